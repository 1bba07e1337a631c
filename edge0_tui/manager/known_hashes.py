"""Which hash each file of a directory has to have, from whoever knows: our record, the hub's cache, the catalog."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from edge0_tui.manager.catalog import CATALOG
from edge0_tui.manager.names import wanted
from edge0_tui.manager.record import Record

_SHA256, _SHA1 = re.compile(r"[0-9a-f]{64}"), re.compile(r"[0-9a-f]{40}")
_METADATA = ".cache/huggingface/download"
_MAX_METADATA = 4096


@dataclass(frozen=True)
class Known:
    """What a file has to be. Empty hashes and a size of None: nobody knows. `by`: who does, in words."""

    name: str
    bytes: int | None = None
    sha256: str = ""
    git_sha1: str = ""
    by: str = ""

    @property
    def hash(self) -> str:
        return self.sha256 or self.git_sha1


def known_hashes(folder: Path, record: Record | None) -> list[Known]:
    """Every file of the record; without one, every file of a checkpoint that lies there, by name."""
    if record is not None:
        return [Known(file.name, file.bytes, file.sha256, file.git_sha1, "the hub") for file in record.files]
    below = folder.glob("adapters/*.safetensors")
    names = [path.name for path in folder.iterdir()] + [f"adapters/{path.name}" for path in below]
    return [_of_cache(folder, name) or _of_catalog(folder, name) or Known(name) for name in wanted(names)]


def _of_cache(folder: Path, name: str) -> Known | None:
    """The hub's own tools call a cached file by its hash, and keep it beside files fetched into a folder."""
    path = folder / name
    if path.is_symlink():
        target = path.readlink()
        return _known(name, target.name) if target.parent.name == "blobs" else None
    try:
        with (folder / _METADATA / f"{name}.metadata").open("rb") as file:
            lines = file.read(_MAX_METADATA).decode("ascii", "replace").splitlines()
    except OSError:
        return None
    return _known(name, lines[1].strip()) if len(lines) > 1 else None


def _known(name: str, text: str) -> Known | None:
    if _SHA256.fullmatch(text):
        return Known(name, None, text, "", "the hub's cache")
    return Known(name, None, "", text, "the hub's cache") if _SHA1.fullmatch(text) else None


def _of_catalog(folder: Path, name: str) -> Known | None:
    """A file with the name and size of a published one is expected to be it."""
    size = (folder / name).stat().st_size
    for entry in CATALOG:
        for file in entry.files:
            if file.sha256 and file.bytes == size and fnmatchcase(name, file.name):
                return Known(name, size, file.sha256, "", "the catalog")
    return None
