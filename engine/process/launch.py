"""How the worker's process is started, described and made to end."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Sequence
from typing import BinaryIO

from engine.protocol import Shutdown
from engine.wire import MAX_LINE, encode

GRACE = 2.0
"""Seconds the process gets after each step of the ladder."""
SCRIPT_VARIABLE = "EDGE0_SCRIPT"


def default_command() -> list[str]:
    """The worker of this installation; with `EDGE0_SCRIPT` set, one that follows that script without a model.

    `-P`: a folder called `engine` where the application happens to be started must not be taken for ours.
    """
    script = os.environ.get(SCRIPT_VARIABLE)
    return [sys.executable, "-P", "-m", "engine.worker", *(["--scripted", script] if script else [])]


async def spawn(command: Sequence[str], log: BinaryIO) -> Process:
    """Start the process in a session of its own, so that the terminal's signals do not reach it."""
    return await asyncio.create_subprocess_exec(
        *command, stdin=PIPE, stdout=PIPE, stderr=log, limit=MAX_LINE, start_new_session=True
    )


async def end(process: Process, grace: float = GRACE) -> str:
    """Ask, then terminate, then kill. Says which step was needed: "shutdown", "terminate" or "kill"."""
    if process.stdin is not None and not process.stdin.is_closing():
        process.stdin.write(encode(Shutdown()))
        process.stdin.close()
    if await _ended(process, grace):
        return "shutdown"
    # The process may end between two looks at it.
    with contextlib.suppress(ProcessLookupError):
        process.terminate()
    if await _ended(process, grace):
        return "terminate"
    with contextlib.suppress(ProcessLookupError):
        process.kill()
    await process.wait()
    return "kill"


def status_text(returncode: int) -> str:
    """A process's return code in words."""
    if returncode >= 0:
        return f"exit code {returncode}"
    try:
        return f"signal {signal.Signals(-returncode).name}"
    except ValueError:
        return f"signal {-returncode}"


async def _ended(process: Process, seconds: float) -> bool:
    try:
        await asyncio.wait_for(process.wait(), seconds)
    except TimeoutError:
        return False
    return True
