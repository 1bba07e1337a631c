"""Reading regular files only: a pipe or device in a checkpoint directory must not hang the program."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from engine.checkpoint.faults import fault

GONE = "A file of the checkpoint is missing: fetch the checkpoint again."


def size_of(path: Path) -> int:
    """Bytes in the regular file `path` (links are followed). Raises CheckpointError."""
    try:
        status = path.stat()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else "not a usable name"
        raise fault(path, f"cannot be opened ({reason.lower()})", hint=GONE) from None
    if not stat.S_ISREG(status.st_mode):
        raise fault(path, "is not a regular file")
    return status.st_size


def pread_exactly(descriptor: int, into: memoryview, offset: int) -> int:
    """Fill `into` from `offset` on; returns the bytes read, fewer than asked only at the end of the file."""
    done = 0
    while done < len(into):
        step = os.preadv(descriptor, [into[done : done + (1 << 30)]], offset + done)
        if step == 0:
            break
        done += step
    return done


def read_range(path: Path, offset: int, into: memoryview, tensor: str | None = None) -> None:
    """Fill `into` with the bytes of `path` from `offset` on. Raises CheckpointError, also when there are fewer."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            done = pread_exactly(descriptor, into, offset)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise fault(path, f"cannot be read ({error.strerror})", tensor=tensor) from error
    if done != len(into):
        raise fault(path, f"ends after {done} of {len(into)} bytes", tensor=tensor)


def read_whole(path: Path, limit: int) -> bytes:
    """All bytes of `path`, refused above `limit`. Raises CheckpointError."""
    size = size_of(path)
    if size > limit:
        raise fault(path, f"has {size:,} bytes, more than the {limit:,} accepted for this kind of file")
    data = bytearray(size)
    read_range(path, 0, memoryview(data))
    return bytes(data)
