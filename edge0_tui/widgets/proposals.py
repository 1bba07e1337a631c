"""The few lines above the prompt that say how the word at the cursor could go on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import events
from textual.content import Content
from textual.message import Message
from textual.style import Style
from textual.widgets import Static

from edge0_tui.safe_text import harmless

if TYPE_CHECKING:
    from edge0_tui.writing.completion import Item, Menu

ROWS = 8
_LABELS = 26


class Proposals(Static):
    """Shows a window of the menu around the chosen line; hidden without a menu. A click takes a line."""

    DEFAULT_CSS = """
    Proposals { height: auto; background: $panel; padding: 0 1; text-wrap: nowrap; text-overflow: ellipsis; }
    """

    class Taken(Message):
        """The line with this number was clicked."""

        def __init__(self, index: int) -> None:
            super().__init__()
            self.index = index

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(markup=False, id=id)
        self.display = False

    def show(self, menu: Menu | None, chosen: int) -> None:
        self.display = menu is not None
        if menu is None:
            return
        rows = min(ROWS, max(3, self.app.size.height // 3))
        first = min(max(0, chosen - rows // 2), max(0, len(menu.items) - rows))
        shown = menu.items[first : first + rows]
        width = min(_LABELS, max(len(harmless(item.label)) for item in menu.items)) + 2
        lines = [self._line(item, index == chosen, width, index) for index, item in enumerate(shown, first)]
        rest = len(menu.items) - len(shown)
        if rest > 0:
            lines.append(Content.styled(f"  {chosen + 1} of {len(menu.items)}", "$text-disabled"))
        self.update(Content("\n").join(lines))

    def _line(self, item: Item, chosen: bool, width: int, index: int) -> Content:
        label = Content(harmless(item.label))
        label = label.stylize("bold $accent" if chosen else "$foreground")
        if item.note:
            label = label.truncate(width, ellipsis=True).pad_right(max(0, width - label.cell_length))
        mark = ("❯ ", "$accent") if chosen else ("  ", "")
        line = Content.assemble(mark, label, (" ".join(harmless(item.note).split()), "$text-muted"))
        return line.stylize(Style.from_meta({"proposal": index}))

    def on_click(self, event: events.Click) -> None:
        if (index := event.style.meta.get("proposal")) is not None:
            self.post_message(self.Taken(index))
