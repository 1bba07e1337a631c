"""The list of the models screen: names and notes in columns, downloads with a bar that moves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets.option_list import Option

from edge0_tui import units
from edge0_tui.model_menu import MenuLine
from edge0_tui.widgets.bars import meter
from edge0_tui.widgets.menu_list import MenuList

_MARK, _NAME, _NOTE = 2, 22, 20
"""Cells of the columns: the widest note is a size and `unfinished`."""
_USUAL = 44
"""Cells of a line before there is a size."""
_BAR, _BAR_NARROW = 8, 4


class ModelsList(MenuList):
    """A click shows a line's plan; a click on the line that is shown chooses it, as enter does."""

    BINDINGS: ClassVar[list[BindingType]] = [
        # The list is short; what is long is the card beside it.
        Binding("pagedown", "screen.model_page(1)", show=False),
        Binding("pageup", "screen.model_page(-1)", show=False),
    ]

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.lines: list[MenuLine] = []
        self.click_chooses = False

    @property
    def line(self) -> MenuLine | None:
        """The one under the cursor."""
        id = self.highlighted_option.id if self.highlighted_option else None
        return next((line for line in self.lines if line.id == id), None)

    def show_lines(self, lines: Sequence[MenuLine], wanted: str = "") -> None:
        """Draw these lines. The cursor stays on its line, or on its model when that changes groups; else it goes
        to `wanted`, or to what is loaded."""
        before = {line.id: line for line in self.lines}
        present = self.line.id if self.line else ""
        directory = self.line.directory if self.line else ""
        same = [line.id for line in self.lines] == [line.id for line in lines]
        self.lines = list(lines)
        if same and self.option_count:
            for line in lines:
                if line != before[line.id]:
                    self.replace_option_prompt(line.id, self._prompt(line))
            return
        self.clear_options()
        for index, line in enumerate(lines):
            if index and line.kind == "heading":
                self.add_option(Option("", disabled=True))
            self.add_option(Option(self._prompt(line), id=line.id, disabled=not line.enabled))
        ids = {line.id for line in lines if line.enabled}
        marked = next((line.id for line in lines if line.marked), None)
        moved = next((line.id for line in lines if directory and line.directory == directory), None)
        self.go_to_first(next((id for id in (wanted, present, moved, marked) if id in ids), None))

    def on_resize(self) -> None:
        for line in self.lines:
            self.replace_option_prompt(line.id, self._prompt(line))

    async def _on_click(self, event: events.Click) -> None:
        """Textual chooses at once; here the plan comes first."""
        event.prevent_default()
        clicked = event.style.meta.get("option")
        if clicked is None or self.get_option_at_index(clicked).disabled:
            return
        if clicked == self.highlighted or self.click_chooses:
            self.highlighted = clicked
            self.action_select()
        else:
            self.highlighted = clicked

    def _prompt(self, line: MenuLine) -> Content:
        if line.kind == "heading":
            return Content.styled(line.text, "$text-muted")
        width = max(24, self.scrollable_content_region.width or _USUAL)
        room = max(12, min(_NAME, width - _MARK - 1 - _NOTE))
        name = Content(line.text).truncate(room if line.note else width - 2, ellipsis=True)
        unable = line.choice is None and line.kind in ("installed", "adapter", "routing")
        if unable:
            name = name.stylize("dim")
        mark = ("● ", "$success") if line.marked else ("  ", "")
        note = self._moving(line, width - _MARK - room - 1) if line.running else Content.styled(line.note, "dim")
        gap = " " * (room - name.cell_length + 1) if line.note else ""
        return Content.assemble(mark, name, gap, note)

    def _moving(self, line: MenuLine, width: int) -> Content:
        """Bar, percentage and rate in `width` cells."""
        assert line.download is not None
        progress = line.download.progress
        if not progress.total_bytes:
            return Content.styled("asking the hub", "dim")
        full, rest = meter(progress.share, _BAR if width >= _BAR + 16 else _BAR_NARROW)
        word = "stalled" if progress.stalled else units.rate(progress.rate) if progress.rate else progress.phase
        return Content.assemble(
            (full, "$accent"), (rest, "$text-disabled"), f"{int(progress.share * 100):>4} %", (f" {word:>9}", "dim")
        )
