"""One block in place: laid out once for a width, painted once for a theme."""

from __future__ import annotations

from collections.abc import Callable
from itertools import takewhile

from textual.content import Content
from textual.selection import Selection
from textual.strip import Strip
from textual.style import Style

from edge0_tui.widgets.markdown.blocks import Block
from edge0_tui.widgets.markdown.layout import lay
from edge0_tui.widgets.markdown.paint import paint
from edge0_tui.widgets.markdown.sheet import Sheet


class Entry:
    """A block, the empty rows above it, and the caches of its rows. `bar` is put before each of its rows."""

    def __init__(self, block: Block, gap: int, base: str = "", bar: Content | None = None) -> None:
        self.block = block
        self.gap = gap
        self._base = base
        self._bar = bar or Content()
        self._sheet = Sheet(1)
        self._width = 0
        self._strips: dict[int, Strip] = {}

    def lay(self, width: int) -> int:
        """Lay out for a width and say how many rows that takes."""
        if width != self._width:
            self._width = width
            self._sheet = Sheet(width)
            with self._sheet.inset(self._bar, self._bar, self._base):
                for _ in range(self.gap):
                    self._sheet.blank()
                lay(self._sheet, self.block)
            self._strips.clear()
        return len(self._sheet.rows)

    def adopt(self, before: Entry) -> int:
        """How many rows from the top are those of `before`, which stood in this place; they stay as painted."""
        if before._width != self._width:
            return 0
        pairs = zip(before._sheet.rows, self._sheet.rows, strict=False)
        same = sum(1 for _ in takewhile(lambda pair: pair[0].is_same(pair[1]), pairs))
        self._strips |= {row: strip for row, strip in before._strips.items() if row < same}
        return same

    @property
    def lines(self) -> list[str]:
        """The text, line by line, gaps included: what a selection is cut from."""
        return self._sheet.lines

    @property
    def codes(self) -> list[str]:
        """The code blocks within, in the order their copy keys count them."""
        return self._sheet.codes

    def repaint(self) -> None:
        """Forget the painted rows, as when the theme has changed."""
        self._strips.clear()

    def strip(
        self,
        row: int,
        first_line: int,
        base: Style,
        get_style: Callable[[str | Style], Style],
        selection: tuple[Selection, Style] | None,
    ) -> Strip:
        """One painted row. `first_line` is where this block's lines begin in the whole widget."""
        line = first_line + self._sheet.rows[row].line
        if selection and (span := selection[0].get_span(line)):
            return paint(self._sheet.rows[row], line, self._width, base, get_style, (*span, selection[1]))
        if row not in self._strips:
            self._strips[row] = paint(self._sheet.rows[row], line, self._width, base, get_style)
        return self._strips[row]
