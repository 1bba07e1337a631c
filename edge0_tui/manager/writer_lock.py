"""One writer for each model's folder. The system drops the lock of a process that dies, however it dies."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from edge0_tui.manager.errors import InUseError


@contextlib.contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Hold the lock of `folder`, which lies beside it and is never removed. Raises `InUseError`, `OSError`."""
    descriptor = _open(folder)
    try:
        if not _taken(descriptor):
            raise InUseError(
                f"{folder.name} is being fetched or removed by another process.", "Wait for it, or stop it there."
            )
        yield
    finally:
        os.close(descriptor)


def being_written(folder: Path) -> bool:
    """Whether some process holds the lock now."""
    try:
        descriptor = os.open(_path(folder), os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        return not _taken(descriptor)
    finally:
        os.close(descriptor)


def _open(folder: Path) -> int:
    folder.parent.mkdir(parents=True, exist_ok=True)
    return os.open(_path(folder), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)


def _path(folder: Path) -> Path:
    return folder.parent / f".{folder.name}.lock"


def _taken(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
