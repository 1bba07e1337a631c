"""A text area in which folded texts are a few words that the cursor cannot enter."""

from __future__ import annotations

import re

from rich.style import Style as RichStyle
from rich.text import Text
from textual import events
from textual.color import Color
from textual.document._document import EditResult, Location, Selection
from textual.widgets import TextArea

from edge0_tui.safe_text import harmless
from edge0_tui.writing.chips import Chips

_MENTION = re.compile(r'(?<![\w@/.])@(?:"[^"\n]+"|[^\s"\'`@]+)')


class ChipArea(TextArea):
    """`text` is what is on screen; `whole` is what it stands for. A chip is removed, passed and selected whole."""

    def __init__(self, *, id: str | None = None) -> None:
        self.chips = Chips()  # first: the text area sets its selection while it is made
        super().__init__(
            id=id,
            soft_wrap=True,
            tab_behavior="focus",
            show_line_numbers=False,
            highlight_cursor_line=False,
            compact=True,
        )

    @property
    def whole(self) -> str:
        """The text with everything that is folded."""
        return self.chips.unfold(self.text)

    def put(self, text: str) -> None:
        """Instead of what is there, with the cursor at the end; attached files and known long texts are folded."""
        self.load_text(self.chips.fold(text))
        self.move_cursor(self.document.end)

    def insert_folded(self, text: str) -> None:
        """Put in a text where the cursor is; a long one is folded."""
        self._replace_via_keyboard(self.chips.fold_pasted(harmless(text)), *self.selection)

    def toggle_fold(self) -> bool:
        """Show what is folded, else fold what was; true if there was anything of either."""
        text = self.whole if self.chips.spans(self.text) else self.chips.fold(self.text)
        if text == self.text:
            return False
        self.replace(text, (0, 0), self.document.end)
        self.move_cursor(self.document.end)
        return True

    async def _on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        self.insert_folded(event.text)
        self.focus()

    # --- copying and removing ---

    @property
    def selected_text(self) -> str:
        """What is selected, with everything that is folded in it."""
        return self.chips.unfold(super().selected_text)

    def action_cut(self) -> None:
        row = self.cursor_location[0]
        text = self.selected_text or f"{self.chips.unfold(self.document.get_line(row))}\n"
        if self.selection.is_empty:
            self._delete_cursor_line()
        else:
            self._delete_via_keyboard(*self.selection)
        self.app.copy_to_clipboard(text)

    def action_paste(self) -> None:
        self.insert_folded(self.app.clipboard)

    def _delete_via_keyboard(self, start: Location, end: Location) -> EditResult | None:
        """A chip goes whole, whichever key or word boundary reaches into it."""
        first, last = sorted((start, end))
        return super()._delete_via_keyboard(self._edge(first, 0), self._edge(last, 1))

    # --- the cursor ---

    def get_cursor_left_location(self) -> Location:
        return self._edge(super().get_cursor_left_location(), 0)

    def get_cursor_right_location(self) -> Location:
        return self._edge(super().get_cursor_right_location(), 1)

    def get_cursor_word_left_location(self) -> Location:
        return self._edge(super().get_cursor_word_left_location(), 0)

    def get_cursor_word_right_location(self) -> Location:
        return self._edge(super().get_cursor_word_right_location(), 1)

    def validate_selection(self, selection: Selection) -> Selection:
        """Neither end within a chip, wherever the mouse or the arrows put it."""
        return Selection(self._edge(selection.start), self._edge(selection.end))

    def _edge(self, location: Location, side: int | None = None) -> Location:
        """The place itself, else the chip's left (0), right (1) or nearer edge."""
        row, column = location
        if row >= self.document.line_count:
            return location
        for span in self.chips.spans(self.document.get_line(row)):
            if span[0] < column < span[1]:
                near = int(column - span[0] > span[1] - column)
                return row, span[near if side is None else side]
        return location

    # --- drawing ---

    def get_line(self, line_index: int) -> Text:
        line = super().get_line(line_index)
        accent = self._ink("accent")
        for start, end in self.chips.spans(line.plain):
            line.stylize(accent, start, end)
        for match in _MENTION.finditer(line.plain):
            line.stylize(accent, *match.span())
        return line

    def _ink(self, name: str) -> RichStyle:
        try:
            colour = Color.parse(self.app.theme_variables.get(name, ""))
        except ValueError:  # a 16-colour theme's own words; they are not for Rich
            return RichStyle(bold=True)
        return RichStyle(color=colour.rich_color) if not self.app.no_color else RichStyle(bold=True)
