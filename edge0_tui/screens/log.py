"""The end of the engine's log, following it."""

from __future__ import annotations

from pathlib import Path

from textual.app import ComposeResult
from textual.widgets import Log, Static

from edge0_tui.log_tail import tail
from edge0_tui.screens.dialog import Dialog


class LogScreen(Dialog[None]):
    """Reads the file's tail once a second while it is open."""

    CSS_PATH = ["dialog.tcss", "log.tcss"]
    TITLE = "Engine log"
    KEYS = (("↑ ↓", "scroll"), ("esc", "close"))

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path
        self._shown: list[str] = []

    def body(self) -> ComposeResult:
        yield Static(str(self._path), id="log-path", markup=False)
        yield Log(id="log-text", max_lines=2000)

    def on_mount(self) -> None:
        self.query_one("#log-text", Log).focus()
        self._refresh()
        self.set_interval(1.0, self._refresh)

    def _refresh(self) -> None:
        lines = tail(self._path)
        if lines == self._shown:
            return
        view = self.query_one("#log-text", Log)
        if self._shown and lines[: len(self._shown)] == self._shown:
            view.write_lines(lines[len(self._shown) :])
        else:
            view.clear()
            view.write_lines(lines)
        self._shown = lines
