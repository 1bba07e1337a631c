"""Hashes as the hub states them: sha256 of files kept in LFS, sha1 of the git blob for all others."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Callable
from pathlib import Path

from edge0_tui.manager.errors import StoppedError

PIECE = 4 << 20


class Digest:
    """The hash of a file of `size` bytes: sha256, or with `git` what git calls the blob's id."""

    def __init__(self, size: int, *, git: bool) -> None:
        self._hash = hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False) if git else hashlib.sha256()

    def update(self, data: memoryview) -> None:
        self._hash.update(data)

    def hex(self) -> str:
        return self._hash.hexdigest()


def hash_file(
    path: Path,
    *,
    git: bool = False,
    on_bytes: Callable[[int], None] | None = None,
    stop: threading.Event | None = None,
) -> str:
    """The hash of a regular file. `on_bytes` is told how many have been hashed in all.

    Raises `OSError`, and `StoppedError` when `stop` is set.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        digest = Digest(os.fstat(descriptor).st_size, git=git)
        buffer = memoryview(bytearray(PIECE))
        done = 0
        while count := os.readv(descriptor, [buffer]):
            digest.update(buffer[:count])
            done += count
            if on_bytes is not None:
                on_bytes(done)
            if stop is not None and stop.is_set():
                raise StoppedError("Stopped.")
        return digest.hex()
    finally:
        os.close(descriptor)
