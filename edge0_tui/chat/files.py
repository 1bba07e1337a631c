"""Files that are whole at every moment, and a lock between instances."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

from edge0_tui.chat.errors import StoreError

LARGEST = 256 * 1024 * 1024
_PATIENCE = 5.0


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def read(path: Path) -> bytes | None:
    """The bytes of a file, None when there is none."""
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StoreError.at(path, error) from error
    if len(data) > LARGEST:
        raise StoreError.because(path, f"larger than {LARGEST >> 20} MiB, which no transcript is")
    return data


def write(path: Path, data: bytes) -> None:
    """Replace a file in one step. Whatever happens, the old or the new content is there, whole."""
    # Always the same name: what a crash left behind is overwritten by the next write. Only under the lock.
    part = path.with_name(f".{path.name}.part")
    try:
        with part.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
        _sync(path.parent)
    except OSError as error:
        with contextlib.suppress(OSError):
            part.unlink()
        raise StoreError.at(path, error) from error


@contextlib.contextmanager
def lock(directory: Path, patience: float = _PATIENCE) -> Iterator[None]:
    """Keep other instances from writing in this directory. The system drops the lock of a process that dies."""
    path = directory / ".lock"
    try:
        directory.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise StoreError.at(directory, error) from error
    try:
        _wait(handle, path, patience)
        yield
    finally:
        os.close(handle)


def _wait(handle: int, path: Path, patience: float) -> None:
    end = time.monotonic() + patience
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() >= end:
                raise StoreError.because(path, "held by another instance that does not let go") from None
            time.sleep(0.01)
        except OSError as error:
            raise StoreError.at(path, error) from error


def _sync(directory: Path) -> None:
    """Make the new name itself survive a power cut."""
    handle = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
