"""Copying text out of the terminal: the system's own tool first, the terminal's escape sequence second."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from collections.abc import Callable, Mapping

_TIMEOUT = 2.0


def commands(environ: Mapping[str, str], platform: str) -> list[list[str]]:
    """The tools worth trying here, best first. Over ssh none: they would fill the remote machine's clipboard."""
    if "SSH_CONNECTION" in environ and not environ.get("DISPLAY") and not environ.get("WAYLAND_DISPLAY"):
        return []
    if platform == "darwin":
        return [["pbcopy"]]
    found: list[list[str]] = []
    if environ.get("WAYLAND_DISPLAY"):
        found.append(["wl-copy"])
    if environ.get("DISPLAY"):
        found.append(["xclip", "-selection", "clipboard"])
    return found


async def copy(
    text: str, osc52: Callable[[str], None], environ: Mapping[str, str] | None = None, platform: str = sys.platform
) -> str:
    """Copy `text` and say which way it went, for a notice. `osc52` asks the terminal to do it."""
    for command in commands(os.environ if environ is None else environ, platform):
        if shutil.which(command[0]) and await _feed(command, text):
            return f"copied with {command[0]}"
    osc52(text)
    return "copied through the terminal (OSC 52; it may need to be allowed there)"


async def _feed(command: list[str], text: str) -> bool:
    try:
        # The outputs go nowhere: xclip stays behind to serve the selection and would keep a pipe open.
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
        )
    except OSError:
        return False
    try:
        await asyncio.wait_for(process.communicate(text.encode()), _TIMEOUT)
    except (TimeoutError, OSError):
        if process.returncode is None:
            process.kill()
            await process.wait()
        return False
    return process.returncode == 0
