"""The record beside a model's files: which repository and commit they are of, and which have been verified.

Written before the first byte arrives, and after each file that was verified. A file counts as verified while its
size and time of change are those of the moment it was hashed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from edge0_tui.manager.files import read_json, write_json
from edge0_tui.manager.names import MAX_FILES, is_safe

NAME = ".edge0-tui.json"
_FORMAT = 1


@dataclass(frozen=True)
class FileRecord:
    """What a file has to be. `mtime_ns` is 0 until it has been verified."""

    name: str
    bytes: int
    sha256: str = ""
    git_sha1: str = ""
    mtime_ns: int = 0

    def holds(self, folder: Path) -> bool:
        """Whether it was verified and has not been touched since."""
        try:
            status = (folder / self.name).stat()
        except OSError:
            return False
        return bool(self.mtime_ns) and (status.st_size, status.st_mtime_ns) == (self.bytes, self.mtime_ns)

    def verified(self, folder: Path) -> FileRecord:
        """The same, verified as the file is now. Raises `OSError`."""
        return replace(self, mtime_ns=(folder / self.name).stat().st_mtime_ns)


@dataclass(frozen=True)
class Record:
    """A model's files as they were published. `tier` is the catalog's name for it, empty for other repositories."""

    repo: str
    commit: str
    revision: str
    files: tuple[FileRecord, ...]
    tier: str = ""

    @property
    def bytes(self) -> int:
        return sum(file.bytes for file in self.files)

    def complete(self, folder: Path) -> bool:
        """Whether every file is there and verified."""
        return bool(self.files) and all(file.holds(folder) for file in self.files)

    def with_files(self, changed: Iterable[FileRecord]) -> Record:
        """The same with some files' records replaced."""
        by_name = {file.name: file for file in changed}
        return replace(self, files=tuple(by_name.get(file.name, file) for file in self.files))

    def save(self, folder: Path) -> None:
        """Raises `OSError`."""
        write_json(folder / NAME, {"format": _FORMAT, **asdict(self)})


def read_record(folder: Path) -> Record | None:
    """The record of a folder, None when there is none that can be understood."""
    body = read_json(folder / NAME)
    try:
        files = body["files"]
        if body["format"] != _FORMAT or not isinstance(files, list) or len(files) > MAX_FILES:
            return None
        read = tuple(_file(item) for item in files)
        texts = [body[key] for key in ("repo", "commit", "revision", "tier")]
    except (KeyError, TypeError, ValueError):
        return None
    if not all(isinstance(text, str) and text.isprintable() for text in texts):
        return None
    repo, commit, revision, tier = texts
    return Record(repo, commit, revision, read, tier)


def _file(item: Any) -> FileRecord:
    file = FileRecord(**item)
    texts = (file.name, file.sha256, file.git_sha1)
    if not all(isinstance(text, str) for text in texts) or not is_safe(file.name):
        raise ValueError("no usable name")
    if type(file.bytes) is not int or type(file.mtime_ns) is not int:
        raise ValueError("no number")
    return file
