"""What a verification found, and where the last verdict on a directory is kept."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from edge0_tui.manager.files import read_json, write_json
from edge0_tui.paths import Paths

Outcome = Literal["good", "recorded", "different", "wrong size", "missing", "unreadable"]
BAD: tuple[Outcome, ...] = ("different", "wrong size", "missing", "unreadable")


@dataclass(frozen=True)
class FileVerdict:
    """One file.

    good       it has the hash its publisher states (`detail` says who knows it)
    recorded   nobody states a hash; it has the one of the first verification, which may be this one
    different, wrong size, missing, unreadable

    `baseline`: where nobody states a hash, the one of the first verification.
    """

    name: str
    bytes: int
    outcome: Outcome
    detail: str = ""
    hash: str = ""
    mtime_ns: int = 0
    baseline: str = ""


@dataclass(frozen=True)
class Verdict:
    """`ok`: no file is bad and together they are a checkpoint. `at` is UTC, ISO 8601; `seconds` of hashing."""

    path: str
    ok: bool
    at: str
    seconds: float
    bytes: int
    files: tuple[FileVerdict, ...]
    message: str

    def still_holds(self) -> bool:
        """Whether no file has been touched since."""
        return all(_same(Path(self.path) / file.name, file) for file in self.files if file.outcome != "missing")


def last_verdict(path: Path, paths: Paths) -> Verdict | None:
    """What `verify` said last of this directory, None if it never did."""
    body = read_json(_place(path, paths))
    try:
        files = tuple(FileVerdict(**item) for item in body.pop("files"))
        verdict = Verdict(**body, files=files)
    except (KeyError, TypeError):
        return None
    return verdict if _usable(verdict) else None


def keep_verdict(verdict: Verdict, paths: Paths) -> None:
    """Raises `OSError`."""
    place = _place(Path(verdict.path), paths)
    place.parent.mkdir(parents=True, exist_ok=True)
    write_json(place, asdict(verdict), sync=False)


def forget_verdict(path: Path, paths: Paths) -> None:
    """The directory is no more."""
    _place(path, paths).unlink(missing_ok=True)


def _place(path: Path, paths: Paths) -> Path:
    name = hashlib.sha256(str(path.resolve()).encode("utf-8", "surrogateescape")).hexdigest()[:32]
    return paths.data / "verdicts" / f"{name}.json"


def _same(path: Path, file: FileVerdict) -> bool:
    try:
        status = path.stat()
    except OSError:
        return False
    return (status.st_size, status.st_mtime_ns) == (file.bytes, file.mtime_ns)


def _usable(verdict: Verdict) -> bool:
    fields: list[Any] = [verdict.path, verdict.at, verdict.message]
    return all(isinstance(field, str) for field in fields) and isinstance(verdict.ok, bool)
