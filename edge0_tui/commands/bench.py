"""`edge0-tui bench`: the engine's measurements and the application's, each in a process of its own."""

from __future__ import annotations

import subprocess
import sys

from edge0_tui.exit_codes import STOPPED

OF_THE_APPLICATION = ("start", "screen", "ui", "search", "download", "verify")
HELP = """\
also: start (of the application), screen (what it costs nano in tokens per second), ui or --ui (the screen against
      stock widgets), search (in saved chats), download (from this machine, against curl) and verify (against
      sha256sum)"""


def run(arguments: list[str]) -> int:
    """Names of the application's measurements go to `edge0_tui.bench`, everything else to `engine.bench`."""
    arguments = ["ui" if argument == "--ui" else argument for argument in arguments]
    ours = [argument for argument in arguments if argument in OF_THE_APPLICATION]
    others = [argument for argument in arguments if argument not in ours]
    code = 0
    if not ours or any(not argument.startswith("-") for argument in others):
        code = _foreground("engine.bench", others)
        if "-h" in others or "--help" in others:
            print(HELP)
    if ours and code == 0:
        code = _foreground("edge0_tui.bench", [*ours, *(["--json"] if "--json" in others else [])])
    return code


def _foreground(module: str, arguments: list[str]) -> int:
    with subprocess.Popen([sys.executable, "-P", "-m", module, *arguments]) as process:
        try:
            code = process.wait()
        except KeyboardInterrupt:
            process.wait()  # the terminal has told it as well
            return STOPPED
    return code if code >= 0 else 128 - code
