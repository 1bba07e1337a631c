"""Keeps a model from being deleted while some process has it loaded: a shared lock on the directory itself.

    use = hold(path)      # when it is loaded; raises InUseError while it is being deleted
    use.release()         # when it no longer is; the end of the process does the same

A lock on the directory needs no file of its own and works where nothing may be written. Where the file system has
no such locks the protection is missing and nothing else.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from edge0_tui.manager.errors import InUseError


class Use:
    """A directory that is in use until `release`."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def release(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
        self._descriptor = -1


def hold(path: Path) -> Use:
    """Mark the directory as in use by this process. Raises `InUseError` while somebody deletes it."""
    descriptor = _lock(path, fcntl.LOCK_SH)
    if descriptor is None:
        raise InUseError(f"{path.name} is being deleted.", "Choose another model.")
    return Use(descriptor)


class Holding:
    """What one engine has loaded: one directory at a time, given up when another is taken."""

    def __init__(self) -> None:
        self._use = Use(-1)

    def take(self, model: str) -> None:
        """`model` as `engine.protocol.Load` takes it. A name holds nothing. Raises `InUseError`."""
        taken = hold(Path(model)) if Path(model).is_absolute() else Use(-1)
        self._use.release()
        self._use = taken

    def give_up(self) -> None:
        self._use.release()


def in_use(path: Path) -> bool:
    """Whether any process, this one included, holds it."""
    descriptor = _lock(path, fcntl.LOCK_EX)
    if descriptor is not None and descriptor >= 0:
        os.close(descriptor)
    return descriptor is None


@contextlib.contextmanager
def alone(path: Path) -> Iterator[None]:
    """Nobody may begin to use it meanwhile. Raises `InUseError` if somebody does already."""
    descriptor = _lock(path, fcntl.LOCK_EX)
    if descriptor is None:
        raise InUseError(f"{path.name} is loaded.", "Load another model first, here and in other windows.")
    try:
        yield
    finally:
        if descriptor >= 0:
            os.close(descriptor)


def _lock(path: Path, how: int) -> int | None:
    """A descriptor with the lock, None if it cannot be had now, -1 where there are no such locks."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return -1
    try:
        fcntl.flock(descriptor, how | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    except OSError:
        os.close(descriptor)
        return -1
    return descriptor
