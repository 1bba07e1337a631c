"""The prompt: grows with what is written, sends on enter, completes words and brings back earlier prompts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual import events
from textual.document._document import Selection
from textual.message import Message

from edge0_tui.widgets.chip_area import ChipArea
from edge0_tui.writing.prompt_history import HistoryWalk

if TYPE_CHECKING:
    from edge0_tui.writing.completion import Item, Menu

from edge0_tui.keys import BY_ID


class Prompt(ChipArea):
    """Enter sends. With `enter_sends` off, the keys that send and those for a new line change places.

    `proposals` is asked for a menu whenever text or cursor change: with the cursor's line up to the cursor, and
    whether that is the first line. `menu` is what it said; another widget draws it.
    """

    @dataclass
    class Sent(Message):
        """The person wants this sent. The prompt is already empty; `Prompt.restore` brings the text back."""

        text: str

    class EnteredEmpty(Message):
        """Enter in an empty prompt."""

    class MenuChanged(Message):
        """There is another menu, or another line of it is chosen."""

    def __init__(self, *, id: str | None = None, enter_sends: bool = True) -> None:
        self.proposals: Callable[[str, bool], Menu | None] | None = None
        self.menu: Menu | None = None
        self.chosen = 0
        self._closed_for: str | None = None
        super().__init__(id=id)
        self.enter_sends = enter_sends
        self.history_walk = HistoryWalk()
        self.use_keys(BY_ID["send"].keys, BY_ID["newline"].keys)

    def use_keys(self, send: tuple[str, ...], new_line: tuple[str, ...]) -> None:
        """The keys of both actions while `enter_sends` is on."""
        self._send_keys, self._new_line_keys = frozenset(send), frozenset(new_line)

    def restore(self, text: str) -> None:
        """Put a text back to be edited, in front of what is there."""
        rest = self.whole
        self.put(f"{text}\n{rest}" if rest.strip() else text)

    def remember(self, texts: list[str]) -> None:
        """Earlier prompts than those sent here, oldest first."""
        self.history_walk.put_before(texts)

    async def _on_key(self, event: events.Key) -> None:
        if self.menu is not None and self._in_menu(event.key):
            event.stop()
            event.prevent_default()
            return
        sends = event.key in self._send_keys
        if sends or event.key in self._new_line_keys:
            event.stop()
            event.prevent_default()
            if sends == self.enter_sends:
                self.submit()
            else:
                self._replace_via_keyboard("\n", *self.selection)
            return
        if event.key in ("up", "down") and self._browse(-1 if event.key == "up" else 1):
            event.stop()
            event.prevent_default()
            return
        await super()._on_key(event)

    def submit(self) -> None:
        """What enter does."""
        text = self.whole.strip("\n")
        if not text.strip():
            self.post_message(self.EnteredEmpty())
            return
        self.history_walk.add(text)
        self.load_text("")
        self.post_message(self.Sent(text))

    # --- earlier prompts ---

    def _browse(self, step: int) -> bool:
        """Go through the history from either edge of the text. What was written here is found again below."""
        if not self._at_edge(step) or not self.selection.is_empty:
            return False
        text = self.history_walk.step(step, self.whole)
        if text is None:
            return False
        self.put(text)
        if step < 0:  # so that the next step needs no walk through this text
            self.move_cursor((0, 0))
        return True

    def _at_edge(self, step: int) -> bool:
        """Up from where the text begins, down from where it ends; an entry as it was sent, from its edge line."""
        unchanged = self.whole == self.history_walk.here
        if step < 0:
            return self.cursor_at_start_of_text or (unchanged and self.cursor_at_first_line)
        return self.cursor_at_end_of_text or (unchanged and self.cursor_at_last_line)

    # --- proposals ---

    def propose(self, menu: Menu | None) -> None:
        """Show these proposals, or none."""
        if menu is None and self.menu is None:
            return
        self.menu, self.chosen = menu, 0
        self.post_message(self.MenuChanged())

    def before_cursor(self) -> str:
        """The cursor's line up to the cursor."""
        row, column = self.cursor_location
        return self.document.get_line(row)[:column]

    def take(self, index: int) -> Item | None:
        """Put a proposal in; answers with it."""
        if self.menu is None or not 0 <= index < len(self.menu.items):
            return None
        item, start = self.menu.items[index], self.menu.start
        row, _ = self.cursor_location
        self._replace_via_keyboard(item.insert, (row, start), self.cursor_location)
        return item

    def _in_menu(self, key: str) -> bool:
        """What a key does while there are proposals; false if it has its usual meaning."""
        assert self.menu is not None
        match key:
            case "up" | "down":
                self.chosen = (self.chosen + (1 if key == "down" else -1)) % len(self.menu.items)
                self.post_message(self.MenuChanged())
            case "tab":
                self.take(self.chosen)
            case "escape":
                self._closed_for = self.text
                self.propose(None)
            case "enter" if self.enter_sends:
                item = self.take(self.chosen)
                if item is not None and item.whole:
                    self.submit()
            case _:
                return False
        return True

    def load_text(self, text: str) -> None:
        super().load_text(text)
        self.look()

    def _watch_selection(self, previous_selection: Selection, selection: Selection) -> None:
        super()._watch_selection(previous_selection, selection)
        self.look()

    def look(self) -> None:
        """Ask for proposals, except where they were closed."""
        if self.proposals is None or not self.is_mounted:
            return
        if self.text == self._closed_for or not self.selection.is_empty:
            self.propose(None)
            return
        self._closed_for = None
        self.propose(self.proposals(self.before_cursor(), self.cursor_location[0] == 0))
