"""The files records are read from: opened once, watched for changes."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from engine.errors import CheckpointError

if sys.platform == "darwin":
    import fcntl


class _Open(NamedTuple):
    descriptor: int
    size: int
    modified_ns: int


class FileSet:
    """Read-only descriptors by path, safe to use from several threads.

    With `keep_cache` false the operating system is asked not to keep what was read (posix_fadvise on Linux,
    F_NOCACHE on macOS).
    """

    def __init__(self, keep_cache: bool = True) -> None:
        self.keep_cache = keep_cache
        self._files: dict[Path, _Open] = {}
        self._lock = Lock()
        self._closed = False

    def descriptor(self, path: Path) -> int:
        """The file's descriptor, opened on first use. CheckpointError names a file that cannot be opened."""
        with self._lock:
            if self._closed:
                raise CheckpointError(f"{path}: its checkpoint has been closed")
            known = self._files.get(path)
            if known is None:
                known = self._files[path] = self._open(path)
            return known.descriptor

    def drop(self, descriptor: int, offset: int, nbytes: int) -> None:
        """Tell the system that these bytes will not be read again soon, where that is a call of its own."""
        if not self.keep_cache and sys.platform == "linux":
            os.posix_fadvise(descriptor, offset, nbytes, os.POSIX_FADV_DONTNEED)

    def check_unchanged(self) -> None:
        """CheckpointError if a file was written to or truncated since it was opened."""
        with self._lock:
            for path, known in self._files.items():
                now = os.fstat(known.descriptor)
                if (now.st_size, now.st_mtime_ns) != (known.size, known.modified_ns):
                    raise CheckpointError(
                        f"{path}: changed while it was in use ({known.size} bytes before, {now.st_size} now)",
                        "Verify the checkpoint, then load it again.",
                    )

    def close(self) -> None:
        with self._lock:
            self._closed = True
            while self._files:
                os.close(self._files.popitem()[1].descriptor)

    def _open(self, path: Path) -> _Open:
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError as error:
            raise CheckpointError(f"{path}: cannot be opened: {error.strerror}") from error
        if sys.platform == "darwin" and not self.keep_cache:
            fcntl.fcntl(descriptor, fcntl.F_NOCACHE, 1)
        status = os.fstat(descriptor)
        return _Open(descriptor, status.st_size, status.st_mtime_ns)
