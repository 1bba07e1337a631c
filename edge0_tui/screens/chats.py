"""The drawer of saved conversations, newest first, narrowed by typing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.widgets import Input, OptionList, Static

from edge0_tui.library import ChatLine
from edge0_tui.screens.dialog import Dialog
from edge0_tui.widgets.menu_list import MenuList


class ChatsScreen(Dialog[str]):
    """Answers with the id of the chosen conversation. `find` reads the disk and runs beside the screen."""

    CSS_PATH = ["dialog.tcss", "chats.tcss"]
    TITLE = "Chats"
    KEYS = (("enter", "open"), ("↑ ↓", "choose"), ("esc", "close"))
    BINDINGS = [
        Binding("down", "move(1)", show=False, priority=True),
        Binding("up", "move(-1)", show=False, priority=True),
    ]

    def __init__(self, find: Callable[[], Sequence[ChatLine]], present: str) -> None:
        super().__init__()
        self._find, self._present = find, present
        self._lines: Sequence[ChatLine] = ()

    def body(self) -> ComposeResult:
        yield Input(placeholder="Find by title", compact=True, id="chats-filter")
        yield MenuList(id="chats-list", text_width=38)
        yield Static("", id="chats-note", markup=False)

    async def on_mount(self) -> None:
        self.query_one(MenuList).can_focus = False
        self.query_one(Input).focus()
        try:
            self._lines = await asyncio.to_thread(self._find)
        except OSError as error:
            self.query_one("#chats-note", Static).update(f"{error.filename}: {error.strerror}")
            return
        self._fill("")

    def _fill(self, wanted: str) -> None:
        view = self.query_one(MenuList)
        view.clear_options()
        words = wanted.lower().split()
        shown = [line for line in self._lines if all(word in line.title.lower() for word in words)]
        for line in shown:
            view.add_line(line.title or "(no title)", line.note, id=line.id, marked=line.id == self._present)
        view.go_to_first()
        note = "" if shown else "No conversation has these words in its title." if words else "No conversation yet."
        self.query_one("#chats-note", Static).update(note)

    @on(Input.Changed)
    def _narrow(self, event: Input.Changed) -> None:
        self._fill(event.value)

    @on(Input.Submitted)
    def _open(self) -> None:
        self.query_one(MenuList).action_select()

    @on(OptionList.OptionSelected)
    def _chosen(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(event.option_id)

    def action_move(self, step: int) -> None:
        view = self.query_one(MenuList)
        view.action_cursor_down() if step > 0 else view.action_cursor_up()
