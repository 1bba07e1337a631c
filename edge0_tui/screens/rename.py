"""One line for a chat's name."""

from __future__ import annotations

from textual import on
from textual.app import ComposeResult
from textual.widgets import Input

from edge0_tui.screens.dialog import Dialog


class RenameScreen(Dialog[str]):
    """Answers with the name; an empty one means that the chat is called after its first line again."""

    CSS_PATH = ["dialog.tcss", "rename.tcss"]
    TITLE = "Rename"
    KEYS = (("enter", "rename"), ("esc", "leave it"))

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name = name

    def body(self) -> ComposeResult:
        yield Input(self._name, placeholder="empty: the first line of the chat", compact=True, max_length=200)

    def on_mount(self) -> None:
        self.query_one(Input).focus()

    @on(Input.Submitted)
    def _done(self, event: Input.Submitted) -> None:
        self.dismiss(event.value)
