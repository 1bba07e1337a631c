"""Rows of figures of which only those that have changed are painted again.

A `Static` paints itself whole: forty rows for one number that moved, several times a second, cost more than the
streamed text beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.content import Content
from textual.geometry import Region, Size
from textual.strip import Strip
from textual.visual import RenderOptions
from textual.widget import Widget


class Rows(Widget):
    """One `Content` a row, none of them longer than the widget is wide."""

    DEFAULT_CSS: ClassVar[str] = """
    Rows { height: auto; width: 1fr; }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id, markup=False)
        self.rows: list[Content] = []

    @property
    def text(self) -> str:
        """What stands there, without styles."""
        return "\n".join(row.plain for row in self.rows)

    def show_rows(self, rows: Sequence[Content]) -> None:
        """Replace the rows; the screen is laid out again only when there are more or fewer of them."""
        before, self.rows = self.rows, list(rows)
        if len(before) != len(self.rows):
            self.refresh(layout=True)
            return
        width = self.content_size.width
        changed = [y for y, (old, new) in enumerate(zip(before, self.rows, strict=True)) if not old.is_same(new)]
        if changed:
            self.refresh(*(Region(0, y, width, 1) for y in changed))

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self.rows)

    def render_line(self, y: int) -> Strip:
        width = self.content_size.width
        if y >= len(self.rows):
            return Strip.blank(width, self.visual_style.rich_style)
        options = RenderOptions(self._get_style, {"text_wrap": "nowrap"})
        strips = self.rows[y].render_strips(width, 1, self.visual_style, options)
        strip = strips[0] if strips else Strip([])
        return strip.adjust_cell_length(width, self.visual_style.rich_style)
