"""A program in a pseudo-terminal, driven and read like a person would. Linux and macOS."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import select
import signal
import struct
import termios
import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Self

ALTERNATE_SCREEN = b"\x1b[?1049h"
"""What a full-screen program writes first."""
SIZE = (40, 120)
"""Rows and columns."""
REPLIES = {b"\x1b[?2026$p": b"\x1b[?2026;0$y", b"\x1b[c": b"\x1b[?62c", b"\x1b[6n": b"\x1b[1;1R"}
"""Questions a terminal is asked, and what a plain one answers."""


class Terminal:
    """`command` with `environment` added to ours; everything it writes is collected in `output`."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        self.output = bytearray()
        self.exit_code: int | None = None
        self.started = time.perf_counter()
        self.pid, self._descriptor = pty.fork()
        if self.pid == 0:
            os.execvpe(command[0], list(command), {**os.environ, "TERM": "xterm-256color", **environment})
        fcntl.ioctl(self._descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", *SIZE, 0, 0))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        """End the program if it still runs."""
        if self.exit_code is not None:
            return
        for number in (signal.SIGTERM, signal.SIGKILL):
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)
            end = time.monotonic() + 10
            while time.monotonic() < end:
                if self._ended():
                    return
                self._read(0.05)

    def send(self, keys: bytes) -> None:
        """Type."""
        os.write(self._descriptor, keys)

    def wait_for(self, shown: bytes, seconds: float = 60.0) -> float:
        """Seconds from the program's start until `shown` is in what it wrote. Raises TimeoutError."""
        while shown not in self.output:
            if time.perf_counter() - self.started > seconds or not self._read(0.5):
                raise TimeoutError(f"{shown!r} did not appear")
        return time.perf_counter() - self.started

    def drain(self, seconds: float) -> None:
        """Keep reading, so that the program never waits for its terminal."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and self._read(end - time.monotonic()):
            pass

    def wait(self, seconds: float = 30.0) -> int:
        """The exit code (negative: the signal that ended it). Raises TimeoutError."""
        end = time.monotonic() + seconds
        while not self._ended():
            if time.monotonic() > end:
                raise TimeoutError("the program did not end")
            self._read(0.05)
        assert self.exit_code is not None
        return self.exit_code

    def hang_up(self) -> None:
        """Close the terminal under the program, as a lost connection does."""
        os.close(self._descriptor)
        self._descriptor = -1

    def _ended(self) -> bool:
        if self.exit_code is None:
            done, status = os.waitpid(self.pid, os.WNOHANG)
            if done:
                self.drain(0.2)
                self.exit_code = os.waitstatus_to_exitcode(status)
                if self._descriptor >= 0:
                    os.close(self._descriptor)
                    self._descriptor = -1
        return self.exit_code is not None

    def _read(self, seconds: float) -> bool:
        """False when the program has closed its side."""
        if self._descriptor < 0:
            time.sleep(max(0.0, seconds))
            return False
        if not select.select([self._descriptor], [], [], max(0.0, seconds))[0]:
            return True
        try:
            data = os.read(self._descriptor, 65536)
        except OSError:
            return False
        for question, reply in REPLIES.items():
            if question in data:
                self.send(reply)
        self.output += data
        return bool(data)
