"""From the start of `edge0-tui` to a prompt that echoes a key, against an empty Textual app's first picture."""

from __future__ import annotations

import statistics
import sys
import tempfile
import time

from edge0_tui.bench.terminal import ALTERNATE_SCREEN, Terminal

RUNS = 5
PATIENCE = 60.0
KEY = "Ж"
READY = "ready-7f3a"
EMPTY_APP = f"""
from textual.app import App
from textual.widgets import Static
class Empty(App):
    def compose(self):
        yield Static({READY!r})
Empty().run()
"""


def measure(runs: int = RUNS) -> tuple[float, float]:
    """Median seconds (edge0-tui until it echoes a key, empty app until its first picture), taken in turn."""
    ours, empty = [], []
    with tempfile.TemporaryDirectory(prefix="edge0-bench-") as home:
        _start_ours(home)  # fills the caches both sides of the comparison would have on a second start
        for _ in range(runs):
            ours.append(_start_ours(home))
            with Terminal([sys.executable, "-c", EMPTY_APP], {}) as terminal:
                empty.append(terminal.wait_for(READY.encode()))
    return statistics.median(ours), statistics.median(empty)


def _start_ours(home: str) -> float:
    with Terminal([sys.executable, "-m", "edge0_tui.cli"], {"EDGE0_HOME": home}) as terminal:
        terminal.wait_for(ALTERNATE_SCREEN)  # before that the terminal itself would echo the key
        while KEY.encode() not in terminal.output:
            if time.perf_counter() - terminal.started > PATIENCE:
                raise TimeoutError(f"the prompt echoed nothing in {PATIENCE:.0f} s")
            terminal.send(KEY.encode())
            terminal.drain(0.02)
        return time.perf_counter() - terminal.started
