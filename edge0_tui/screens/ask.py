"""A question with a few answers, each with what it leads to."""

from __future__ import annotations

from collections.abc import Sequence

from textual import on
from textual.app import ComposeResult
from textual.widgets import OptionList, Static

from edge0_tui.screens.dialog import Dialog
from edge0_tui.widgets.menu_list import MenuList


class AskScreen(Dialog[str]):
    """Answers with the id of the chosen answer; the first one is under the cursor, escape answers nothing."""

    CSS_PATH = ["dialog.tcss", "ask.tcss"]
    KEYS = (("enter", "choose"), ("↑ ↓", "move"), ("esc", "back"))

    def __init__(self, title: str, text: str, answers: Sequence[tuple[str, str, str]]) -> None:
        """`answers`: id, word, and a note on what it leads to."""
        super().__init__()
        self.heading = title
        self._text, self._answers = text, answers

    def body(self) -> ComposeResult:
        if self._text:
            yield Static(self._text, id="ask-text", markup=False)
        yield MenuList(id="ask-answers", text_width=max(len(word) for _, word, _ in self._answers))

    def on_mount(self) -> None:
        view = self.query_one(MenuList)
        for id, word, note in self._answers:
            view.add_line(word, note, id=id)
        view.go_to_first()
        view.focus()

    @on(OptionList.OptionSelected)
    def _chosen(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.dismiss(event.option_id)
