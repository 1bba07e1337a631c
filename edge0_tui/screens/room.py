"""The question that comes before anything of a conversation is left out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from textual import on
from textual.app import ComposeResult
from textual.widgets import OptionList, Static

from edge0_tui.room import Room
from edge0_tui.screens.dialog import Dialog
from edge0_tui.widgets.menu_list import MenuList


class RoomScreen(Dialog[Room]):
    """Answers with the way that was chosen; escape leaves everything as it is."""

    CSS_PATH = ["dialog.tcss", "menu.tcss"]
    TITLE = "This message no longer fits"
    KEYS = (("enter", "do it"), ("↑ ↓", "choose"), ("esc", "leave it"))

    def __init__(self, refusal: str, ways: Sequence[tuple[Room, str, str]]) -> None:
        super().__init__()
        self._refusal, self._ways = refusal, ways

    def body(self) -> ComposeResult:
        yield Static(self._refusal, classes="menu-text", markup=False)
        yield MenuList(id="menu-list", text_width=34)

    def on_mount(self) -> None:
        view = self.query_one(MenuList)
        for id, words, note in self._ways:
            view.add_line(words, note, id=id)
        view.go_to_first()
        view.focus()

    @on(OptionList.OptionSelected)
    def _chosen(self, event: OptionList.OptionSelected) -> None:
        if event.option_id is not None:
            self.dismiss(cast("Room", event.option_id))
