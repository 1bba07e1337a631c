"""What the screen costs, against Textual's own `Markdown` and against itself with less to show.

Each measurement runs in a process and a pseudo-terminal of its own, so that none inherits another's memory and all
of them draw for real: `python -m edge0_tui.bench.ui SIDE NAME FILE` writes its figures to FILE as JSON.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from edge0_tui.bench.terminal import Terminal

RICH = 200
FEW, MANY = 30, 500
PATIENCE = 600.0


def measured(side: str, name: str) -> Any:
    """The figures of one measurement, taken in a fresh process."""
    with tempfile.TemporaryDirectory(prefix="edge0-bench-") as home:
        figures = Path(home) / "figures.json"
        command = [sys.executable, "-P", "-m", "edge0_tui.bench.ui", side, name, str(figures)]
        with Terminal(command, {"EDGE0_HOME": home}) as terminal:
            code = terminal.wait(PATIENCE)
        if code or not figures.is_file():
            raise RuntimeError(
                f"the measurement {side} {name} ended with {code}:\n{_last_words(bytes(terminal.output))}"
            )
        return json.loads(figures.read_text())


def _last_words(output: bytes) -> str:
    """The end of what a program wrote on leaving, without what steers a terminal."""
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", output[-4000:].decode(errors="replace"))[-1500:]


async def _measure(side: str, name: str) -> Any:
    from edge0_tui.bench import ui_ours, ui_stock

    match side, name:
        case ("ours", "stream"):
            return asdict(await ui_ours.stream())
        case ("stock", "stream"):
            return asdict(await ui_stock.stream())
        case ("ours", "focus"):
            return await ui_ours.focus(RICH)
        case ("stock", "focus"):
            return await ui_stock.focus(RICH)
        case ("ours", "opening"):
            return await ui_ours.opening(FEW, MANY)
        case ("ours", "echo"):
            return await ui_ours.echo(0, MANY)
    raise SystemExit(f"there is no measurement {side} {name}")


def main(arguments: Sequence[str]) -> int:
    side, name, path = arguments
    Path(path).write_text(json.dumps(asyncio.run(_measure(side, name))))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
