"""Keeps a model from being deleted while some process has it loaded: a shared lock on the directory itself.

    use = hold(path)      # before its load is asked for; raises InUseError while it is being deleted
    use.release()         # when it is no longer loaded; the end of the process does the same

A lock on the directory needs no file of its own and works where nothing may be written. Where the file system has
no such locks the protection is missing and nothing else.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Iterator
from pathlib import Path

from edge0_tui.manager.errors import InUseError

HINT = "Load another model first, here and in other windows."
_LOOKS, _BETWEEN = 5, 0.01
"""Whoever asks whether a directory is in use has it for a moment, which is not taken for a deletion."""


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
    for look in range(_LOOKS):
        if look:
            time.sleep(_BETWEEN)
        descriptor = _lock(path, fcntl.LOCK_SH)
        if descriptor is not None:
            return Use(descriptor)
    raise InUseError(f"{path.name} is being deleted.", "Choose another model.")


class Holding:
    """What one engine has loaded and what it is loading, which takes the former's place when it is there."""

    def __init__(self) -> None:
        self._loaded, self._loading = Use(-1), Use(-1)

    def begin(self, model: str) -> None:
        """Before a load is asked for. `model` as `engine.protocol.Load` takes it; a name holds nothing.

        Raises `InUseError`; what was held is then held as before.
        """
        taken = hold(Path(model)) if Path(model).is_absolute() else Use(-1)
        self._loading.release()
        self._loading = taken

    def loaded(self) -> None:
        """The load has ended well: what was loaded before is given up."""
        self._loaded.release()
        self._loaded, self._loading = self._loading, Use(-1)

    def give_up(self) -> None:
        """Nothing is loaded or being loaded any more."""
        self._loaded.release()
        self._loading.release()


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
        raise InUseError(f"{path.name} is loaded, or being loaded.", HINT)
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
