"""Deleting a model: only files that are known, only inside its folder, never through a link, never while in use."""

from __future__ import annotations

import contextlib
import os
import stat
from dataclasses import dataclass
from pathlib import Path

from edge0_tui.manager import record, use
from edge0_tui.manager.disk_errors import disk_error
from edge0_tui.manager.errors import InUseError
from edge0_tui.manager.names import ADAPTERS, is_safe
from edge0_tui.manager.part import SIDECAR, SUFFIX
from edge0_tui.manager.writer_lock import being_written, writing
from edge0_tui.paths import Paths
from engine.errors import UsageError

_OWN = (record.NAME, record.NAME + ".new")
_HINT = "Delete it yourself if you do not need it."


@dataclass(frozen=True)
class Removal:
    """What goes and what stays, as names in the folder. `bytes` are freed: a file with other names frees none."""

    path: str
    files: tuple[str, ...]
    bytes: int
    kept: tuple[str, ...]


def removal(path: Path, paths: Paths) -> Removal:
    """What `remove` would do. Raises `UsageError` for a folder that is not ours, `InUseError` for one in use."""
    path = path.absolute()
    try:
        status = path.lstat()
    except OSError:
        raise UsageError(f"{path} does not exist.") from None
    if stat.S_ISLNK(status.st_mode):
        raise UsageError(f"{path} is a link; nothing is deleted through it.", "Delete the link yourself.")
    if not stat.S_ISDIR(status.st_mode):
        raise UsageError(f"{path} is not a model's directory.")
    said = record.read_record(path)
    if said is None and path.parent != paths.models.absolute():
        raise UsageError(f"{path} was not fetched by edge0-tui, so it is not deleted.", _HINT)
    if being_written(path):
        raise InUseError(f"{path.name} is being fetched.", "Stop the download first.")
    if use.in_use(path):
        raise InUseError(f"{path.name} is loaded, or being loaded.", use.HINT)
    names = None if said is None else {file.name for file in said.files}
    gone: list[str] = []
    kept: list[str] = []
    freed = 0
    for name, info in _listing(path):
        if stat.S_ISREG(info.st_mode) and _known(name, names):
            gone.append(name)
            freed += info.st_blocks * 512 if info.st_nlink == 1 else 0
        else:
            kept.append(name)
    # The configuration goes first, so that nothing half deleted is taken for a model; the record goes last.
    gone.sort(key=lambda name: (name in _OWN, name != "config.json", name))
    return Removal(str(path), tuple(gone), freed, tuple(kept))


def remove(path: Path, paths: Paths) -> Removal:
    """Delete what `removal` lists, and the folder if nothing is left in it. Raises the same, and `EngineError`."""
    path = path.absolute()
    plan = removal(path, paths)
    try:
        with writing(path), use.alone(path):
            root = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                for name in plan.files:
                    _unlink(root, name)
                with contextlib.suppress(OSError):
                    os.rmdir(ADAPTERS, dir_fd=root)
            finally:
                os.close(root)
            with contextlib.suppress(OSError):
                path.rmdir()
    except OSError as error:
        raise disk_error(path, error) from None
    return plan


def _listing(path: Path) -> list[tuple[str, os.stat_result]]:
    """Names and states of what lies in the folder and in adapters/, links as links."""
    found: list[tuple[str, os.stat_result]] = []
    for entry in os.scandir(path):
        if entry.name == ADAPTERS and entry.is_dir(follow_symlinks=False):
            inside = [(item.name, item.stat(follow_symlinks=False)) for item in os.scandir(entry)]
            found += [(f"{ADAPTERS}/{name}", info) for name, info in inside]
        else:
            found.append((entry.name, entry.stat(follow_symlinks=False)))
    return sorted(found, key=lambda item: item[0])


def _known(name: str, recorded: set[str] | None) -> bool:
    if name in _OWN:
        return True
    plain = name.removesuffix(".new").removesuffix(SIDECAR).removesuffix(SUFFIX)
    return is_safe(plain) if recorded is None else plain in recorded


def _unlink(root: int, name: str) -> None:
    """Through descriptors: a folder that was exchanged for a link meanwhile is not followed."""
    folder, slash, last = name.rpartition("/")
    if not slash:
        os.unlink(last, dir_fd=root)
        return
    below = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=root)
    try:
        os.unlink(last, dir_fd=below)
    finally:
        os.close(below)
