"""Copying text out of the terminal: the system's own tool first, then the terminal's sequence, then a file."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

_TIMEOUT = 2.0
OSC52_MOST = 74_994
"""Bytes that every terminal with OSC 52 takes; beyond, some drop the sequence without a word."""


def commands(environ: Mapping[str, str], platform: str) -> list[list[str]]:
    """The tools worth trying here, best first. Over ssh only tmux, which hands on to the terminal: the others would
    fill the remote machine's clipboard."""
    tmux = [["tmux", "load-buffer", "-w", "-"]] if environ.get("TMUX") else []
    if "SSH_CONNECTION" in environ and not environ.get("DISPLAY") and not environ.get("WAYLAND_DISPLAY"):
        return tmux
    if platform == "darwin":
        return [["pbcopy"]]
    found: list[list[str]] = []
    if environ.get("WAYLAND_DISPLAY"):
        found.append(["wl-copy"])
    if environ.get("DISPLAY"):
        found.append(["xclip", "-selection", "clipboard"])
    return found + tmux


async def copy(
    text: str,
    osc52: Callable[[str], None],
    environ: Mapping[str, str] | None = None,
    platform: str = sys.platform,
    file: Path | None = None,
) -> str:
    """Copy `text` and say which way it went, for a notice. `osc52` asks the terminal to do it; what may be too much
    for that is written to `file` as well."""
    for command in commands(os.environ if environ is None else environ, platform):
        if shutil.which(command[0]) and await _feed(command, text):
            return f"copied with {command[0]}"
    osc52(text)
    data = text.encode(errors="replace")
    if file is not None and len(data) > OSC52_MOST:
        try:
            await asyncio.to_thread(_write, file, data)
        except OSError as error:
            return f"sent to the terminal (OSC 52), which may refuse so much; {file} failed, too: {error.strerror}"
        return f"sent to the terminal (OSC 52), which may refuse so much; they are in {file} as well"
    return "copied through the terminal (OSC 52; it may need to be allowed there)"


def _write(file: Path, data: bytes) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600), "wb") as out:
        out.write(data)


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
