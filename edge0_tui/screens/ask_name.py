"""A small sheet that asks for a name."""

from __future__ import annotations

from textual import on
from textual.app import ComposeResult
from textual.widgets import Input, Static

from edge0_tui.screens.dialog import Dialog
from edge0_tui.writing.saved_texts import NAME


class AskNameScreen(Dialog[str]):
    """Answers with a name that `SavedTexts` takes."""

    CSS_PATH = ["dialog.tcss", "writing.tcss"]
    TITLE = "Save this prompt"
    KEYS = (("enter", "save"), ("esc", "close"))

    def __init__(self, where: str) -> None:
        super().__init__()
        self._where = where

    def body(self) -> ComposeResult:
        yield Input(placeholder="A name, as review or shell-help", compact=True, id="name-input")
        yield Static(f"It becomes a file in {self._where}", id="name-note", markup=False)

    def on_mount(self) -> None:
        self.query_one(Input).focus()

    @on(Input.Submitted)
    def _take(self, event: Input.Submitted) -> None:
        name = event.value.strip().lower()
        if NAME.fullmatch(name):
            self.dismiss(name)
        else:
            self.query_one("#name-note", Static).update("A name has letters a to z, digits, - and _, at most 40.")
