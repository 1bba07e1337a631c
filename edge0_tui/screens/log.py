"""The end of the engine's log, following it."""

from __future__ import annotations

import re
from pathlib import Path

from textual.app import ComposeResult
from textual.widgets import Log, Static

from edge0_tui.screens.dialog import Dialog

_TAIL_BYTES = 64 * 1024
_CONTROL = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|[\x00-\x08\x0b-\x1f\x7f]")


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


def tail(path: Path) -> list[str]:
    """The last lines of the file without control characters, or one line saying why there are none."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, 2)
            file.seek(max(0, size - _TAIL_BYTES))
            data = file.read(_TAIL_BYTES)
    except OSError as error:
        return [f"No log: {error.strerror or error}"]
    lines = _CONTROL.sub("", data.decode("utf-8", "replace")).splitlines()
    return lines[1:] if size > _TAIL_BYTES else lines or ["The log is empty."]
