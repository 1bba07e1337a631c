"""Choosing exported files, and taking them in."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding
from textual.widgets import Input, OptionList, Static

from edge0_tui import units
from edge0_tui.arrival import Arrival, take_in
from edge0_tui.collection import Collection
from edge0_tui.exchange.picking import Entry, entries, named
from edge0_tui.screens.dialog import Dialog
from edge0_tui.widgets.menu_list import MenuList

_LABEL = "Markdown, JSON or HTML that edge0-tui exported. The file stays, and no chat here is changed."


class ImportScreen(Dialog[Arrival]):
    """Answers with what came in. While a file is refused it stays open, with everything wrong in one message."""

    CSS_PATH = ["dialog.tcss", "import_chats.tcss"]
    TITLE = "Import chats"
    KEYS = (("enter", "import or open"), ("tab", "complete"), ("↑ ↓", "choose"), ("esc", "close"))
    BINDINGS = [
        Binding("down", "move(1)", show=False, priority=True),
        Binding("up", "move(-1)", show=False, priority=True),
        Binding("tab", "complete", show=False, priority=True),
    ]

    def __init__(self, collection: Collection, typed: str = "") -> None:
        super().__init__()
        self._collection = collection
        self._typed = typed or f"{_short(Path.cwd())}/"
        self._entries: Sequence[Entry] = ()
        self._arrival = Arrival()

    def body(self) -> ComposeResult:
        yield Static(_LABEL, id="import-label", markup=False)
        yield Input(self._typed, compact=True, id="import-path", select_on_focus=False)
        yield MenuList(id="import-list", text_width=max(16, min(44, self.app.size.width - 24)))
        yield Static("", id="import-note", markup=False)

    def on_mount(self) -> None:
        self.query_one(MenuList).can_focus = False
        field = self.query_one(Input)
        field.focus()
        field.cursor_position = len(field.value)
        self._look()

    @on(Input.Changed)
    def _narrow(self) -> None:
        self._look()

    @work(exclusive=True, group="look")
    async def _look(self) -> None:
        found = await asyncio.to_thread(entries, self.query_one(Input).value, Path.cwd())
        view = self.query_one(MenuList)
        view.clear_options()
        self._entries = found
        for number, entry in enumerate(found):
            view.add_line(*_line(entry), id=str(number))
        view.go_to_first()

    @property
    def _chosen(self) -> Entry | None:
        number = self.query_one(MenuList).highlighted
        return self._entries[number] if number is not None and number < len(self._entries) else None

    @on(Input.Submitted)
    async def _enter(self) -> None:
        """What is named in full, else the line under the cursor."""
        paths = await asyncio.to_thread(named, self.query_one(Input).value, Path.cwd())
        whole = [path for path in paths if not path.is_dir()]
        if whole and (self._chosen is None or len(whole) > 1 or whole[0].is_file()):
            self._take(whole)
        else:
            self._use(self._chosen)

    @on(OptionList.OptionSelected)
    def _clicked(self, event: OptionList.OptionSelected) -> None:
        self._use(self._entries[event.option_index])

    def _use(self, entry: Entry | None) -> None:
        if entry is None:
            self._say(Arrival(refused=("there is nothing to import in this folder",)).words)
        elif entry.folder:
            self._put(entry)
        else:
            self._take(entry.files or (entry.path,))

    def action_complete(self) -> None:
        if (entry := self._chosen) is not None and not entry.files:
            self._put(entry)

    def _put(self, entry: Entry) -> None:
        field = self.query_one(Input)
        field.value = f"{_short(entry.path)}{'/' if entry.folder else ''}"
        field.cursor_position = len(field.value)
        field.focus()

    @work(exclusive=True, group="take")
    async def _take(self, paths: Sequence[Path]) -> None:
        self._say(f"Reading {len(paths):,} files…" if len(paths) > 1 else "Reading…")
        now = await asyncio.to_thread(take_in, self._collection, paths)
        self._arrival += Arrival(now.taken)
        if now.refused:
            self._say(now.words, failed=True)
        else:
            self.dismiss(self._arrival)

    def _say(self, text: str, failed: bool = False) -> None:
        note = self.query_one("#import-note", Static)
        note.update(text)
        note.set_class(failed, "-error")

    def action_move(self, step: int) -> None:
        view = self.query_one(MenuList)
        view.action_cursor_down() if step > 0 else view.action_cursor_up()

    def action_close(self) -> None:
        self.dismiss(self._arrival)


def _short(path: Path) -> str:
    """With `~` for the person's own folder."""
    home = Path.home()
    return f"~/{path.relative_to(home)}".removesuffix("/.") if path.is_relative_to(home) else str(path)


def _line(entry: Entry) -> tuple[str, str]:
    if entry.files:
        return f"All {len(entry.files):,} files below", ""
    return (f"{entry.path.name}/", "") if entry.folder else (entry.path.name, units.size(entry.bytes))
