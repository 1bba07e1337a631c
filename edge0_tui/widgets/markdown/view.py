"""The widget that shows sections of blocks: one widget however long the text, painting only what is on screen."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from typing import ClassVar

from textual import events
from textual.geometry import Region, Size
from textual.message import Message
from textual.selection import Selection
from textual.strip import Strip
from textual.style import Style
from textual.widget import Widget

from edge0_tui.widgets.markdown.entry import Entry
from edge0_tui.widgets.markdown.palette import in_theme
from edge0_tui.widgets.markdown.section import Section


class BlockView(Widget):
    """Shows the entries of its sections below each other through Textual's line API."""

    DEFAULT_CSS: ClassVar[str] = """
    BlockView { height: auto; width: 1fr; }
    """

    class LinkClicked(Message):
        """A link of the text was clicked. `href` starts with http, https or mailto."""

        def __init__(self, href: str) -> None:
            super().__init__()
            self.href = href

    class CodeClicked(Message):
        """The copy key of a code block was clicked."""

        def __init__(self, code: str) -> None:
            super().__init__()
            self.code = code

    def __init__(self, sections: list[Section]) -> None:
        super().__init__(markup=False)
        self.sections = sections
        self.auto_links = False
        self._entries: list[Entry] = []
        self._ends: list[int] = []
        self._lines: list[int] = []
        self._laid = 0
        self._same_above: int | None = None

    # --- layout ---------------------------------------------------------------------------------------------

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        if width != self._laid:
            self._lay(width)
        return self.rows

    @property
    def rows(self) -> int:
        return self._ends[-1] if self._ends else 0

    def _lay(self, width: int) -> None:
        self._laid = width
        self._entries = [entry for section in self.sections for entry in section.entries]
        self._ends = list(accumulate(entry.lay(width) for entry in self._entries))
        self._lines = list(accumulate((len(entry.lines) for entry in self._entries), initial=0))

    def sections_changed(self) -> None:
        """Show what the sections hold now, laying the screen out again only if the height is another one."""
        if not self._laid:
            self.refresh(layout=True)
            return
        before, height = self._entries, self.rows
        self._lay(self._laid)
        pairs = enumerate(zip(before, self._entries, strict=False))
        first = next((index for index, (old, new) in pairs if old is not new), min(len(before), len(self._entries)))
        top = self._ends[first - 1] if first else 0
        if first < min(len(before), len(self._entries)):
            # What grows is the last paragraph, table or code block: its first rows are what they were.
            top += self._entries[first].adopt(before[first])
        if self.rows != height:
            self._same_above = top if self._same_above is None else min(top, self._same_above)
            self.refresh(layout=True)
        elif top < height:
            self.refresh(Region(0, top, self._laid, height - top))

    def _set_dirty(self, *regions: Region) -> None:
        """A text that grows keeps its painted rows: Textual paints everything anew when a size changes, which for
        the one long message on screen is most of what streaming costs."""
        if regions or self._same_above is None:
            super()._set_dirty(*regions)
        else:
            height = max(self.rows, self.size.height) - self._same_above
            super()._set_dirty(Region(0, self._same_above, self._laid, max(1, height)))

    def _size_updated(self, size: Size, virtual_size: Size, container_size: Size, layout: bool = True) -> bool:
        if size.width != self.outer_size.width:
            self._same_above = None
        # Nothing is laid out by this widget's height but what is below it, and that has just been done.
        changed = super()._size_updated(
            size, virtual_size, container_size, layout and size.width != self.outer_size.width
        )
        self._same_above = None
        return changed

    # --- painting -------------------------------------------------------------------------------------------

    def render_line(self, y: int) -> Strip:
        index = bisect_right(self._ends, y)
        if index >= len(self._entries):
            return Strip.blank(self._laid, self.visual_style.rich_style)
        top = self._ends[index - 1] if index else 0
        return self._entries[index].strip(
            y - top, self._lines[index], self.visual_style, self._style, self._selected()
        )

    def _style(self, style: str | Style) -> Style:
        if isinstance(style, str):
            theme = self.app.current_theme
            style = in_theme(style, theme.ansi, self.app.theme_variables.get("text-muted", "auto 60%"))
        return self._get_style(style)

    def _selected(self) -> tuple[Selection, Style] | None:
        selection = self.text_selection
        if selection is None:
            return None
        return selection, Style.from_styles(self.screen.get_component_styles("screen--selection"))

    def notify_style_update(self) -> None:
        super().notify_style_update()
        for section in self.sections:
            for entry in section.entries:
                entry.repaint()

    # --- selecting and clicking -----------------------------------------------------------------------------

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        lines = [line for entry in self._entries for line in entry.lines]
        picked: list[str] = []
        for number, line in enumerate(lines):
            if (span := selection.get_span(number)) is not None:
                start, end = span
                picked.append(line[start:] if end == -1 else line[start:end])
        return "\n".join(picked), "\n"

    def on_click(self, event: events.Click) -> None:
        meta = event.style.meta
        if href := meta.get("href"):
            self.post_message(self.LinkClicked(href))
        elif (number := meta.get("code")) is not None:
            offset = event.get_content_offset(self)
            if offset is not None:
                entry = self._entries[bisect_right(self._ends, offset.y)]
                self.post_message(self.CodeClicked(entry.codes[number]))
