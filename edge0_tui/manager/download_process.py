"""One download's process, from the application's side."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Callable, Sequence

from edge0_tui.manager.messages import MAX_LINE, Failed, Finished, Message, Order, decode, encode
from engine.process.launch import status_text

GRACE = 3.0


def default_command() -> list[str]:
    """`-P`: no code from the folder where the application happens to be started."""
    return [sys.executable, "-P", "-m", "edge0_tui.manager.download"]


class DownloadProcess:
    """Runs until the download is over. `stop` asks, then kills; both keep what has arrived."""

    def __init__(self, command: Sequence[str], order: Order, on_message: Callable[[Message], None]) -> None:
        self._command, self._order, self._on_message = command, order, on_message
        self._process: Process | None = None
        self._stopping = False

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process else None

    async def run(self) -> Finished | Failed:
        """How it ended, also if the process could not be started or died."""
        try:
            process = await asyncio.create_subprocess_exec(
                *self._command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, limit=MAX_LINE, start_new_session=True
            )
        except OSError as error:
            return Failed("engine", f"The download does not start ({error.strerror or error}).")
        self._process = process
        assert process.stdin is not None
        process.stdin.write(encode(self._order))
        if self._stopping:
            process.stdin.close()
        try:
            end = await self._listen(process)
            code = await process.wait()
        finally:
            if process.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    process.kill()
        if end is not None:
            return end
        if self._stopping:
            return Failed("stopped", "Stopped.", "What has arrived is kept.")
        why = status_text(code)
        return Failed(
            "engine", f"The download's process ended unexpectedly ({why}).", "Start it again: it goes on."
        )

    async def stop(self, grace: float = GRACE) -> None:
        """Returns when the process has ended."""
        self._stopping = True
        process = self._process
        if process is None or process.returncode is not None:
            return
        if process.stdin is not None:
            process.stdin.close()
        try:
            await asyncio.wait_for(process.wait(), grace)
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()

    async def _listen(self, process: Process) -> Finished | Failed | None:
        assert process.stdout is not None
        while True:
            try:
                line = await process.stdout.readline()
            except ValueError:  # longer than any of ours
                continue
            if not line:
                return None
            try:
                message = decode(line)
            except ValueError:
                continue
            if isinstance(message, Finished | Failed):
                return message
            self._on_message(message)
