"""The file that receives what the worker writes to standard error."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path
from typing import BinaryIO

MAX_LOG = 4 * 1024 * 1024
"""Bytes from which the log of earlier runs is moved to `<name>.1` at a start."""
_TAIL_BYTES = 8192
_TAIL_LINES = 20


class EngineLog:
    """Appends to `path`, or to a file without a name where there is none."""

    def __init__(self, path: Path | None) -> None:
        self._file = _open(path)
        self._start = self._file.seek(0, os.SEEK_END)

    @property
    def file(self) -> BinaryIO:
        return self._file

    def note(self, line: bytes) -> None:
        """Add one line of the client's own."""
        self._file.write(line.rstrip(b"\n") + b"\n")
        self._file.flush()

    def tail(self) -> str:
        """The last lines since this object was made."""
        descriptor = self._file.fileno()
        size = os.fstat(descriptor).st_size
        start = max(self._start, size - _TAIL_BYTES)
        text = os.pread(descriptor, size - start, start).decode(errors="replace")
        return "\n".join(text.splitlines()[-_TAIL_LINES:])

    def close(self) -> None:
        self._file.close()


def _open(path: Path | None) -> BinaryIO:
    if path is not None:
        # A log that cannot be written is no reason to run without an engine.
        with contextlib.suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            if path.exists() and path.stat().st_size > MAX_LOG:
                path.replace(path.with_name(path.name + ".1"))
            return path.open("a+b")
    return tempfile.TemporaryFile("a+b")
