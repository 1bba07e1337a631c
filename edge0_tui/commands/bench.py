"""`edge0-tui bench`: hands its arguments to the engine's own measurements."""

from __future__ import annotations

import subprocess
import sys

from edge0_tui.exit_codes import STOPPED


def run(arguments: list[str]) -> int:
    """The exit code of `python -m engine.bench`, which runs in the foreground."""
    with subprocess.Popen([sys.executable, "-m", "engine.bench", *arguments]) as process:
        try:
            code = process.wait()
        except KeyboardInterrupt:
            process.wait()  # the terminal has told it as well
            return STOPPED
    return code if code >= 0 else 128 - code
