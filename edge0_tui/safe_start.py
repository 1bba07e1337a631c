"""Remembers on disk that an automatic load is under way, so that one that ends in a crash is not repeated."""

from __future__ import annotations

import contextlib
import fcntl
import os
from pathlib import Path


class SafeStart:
    """One marker file for each instance that is loading, locked while that instance lives.

    A marker that can be locked belongs to an instance that has gone: its load ended in a crash. Where markers
    cannot be written the protection is missing and nothing else.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._marker: Path | None = None
        self._descriptor = -1

    def crashed(self) -> str | None:
        """The model whose automatic load ended in a crash, if there is one. Answers once."""
        model: str | None = None
        for marker in sorted(self._directory.glob("loading-*")):
            with contextlib.suppress(OSError):
                descriptor = os.open(marker, os.O_RDWR)
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    model = os.read(descriptor, 4096).decode("utf-8", "replace") or model
                    marker.unlink()
                finally:
                    os.close(descriptor)
        return model

    def begin(self, model: str) -> None:
        """An automatic load begins."""
        self.done()
        with contextlib.suppress(OSError):
            self._directory.mkdir(parents=True, exist_ok=True)
            marker = self._directory / f"loading-{os.getpid()}"
            self._descriptor = os.open(marker, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
            self._marker = marker
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.write(self._descriptor, model.encode())

    def done(self) -> None:
        """The load is over, well or with an error that was understood."""
        if self._marker is not None:
            with contextlib.suppress(OSError):
                self._marker.unlink()
        self.leave()

    def leave(self) -> None:
        """Let go of the marker without removing it: what it says stays for the next start."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
        self._descriptor, self._marker = -1, None
