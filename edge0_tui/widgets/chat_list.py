"""The list of chats: title and age in a line, and below it, while searching, the text that was found.

Only the lines on screen are drawn: a thousand chats cost no more than thirty.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from textual import events
from textual.content import Content
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.visual import Visual

from edge0_tui.chat.query import Snippet, Span, one_line

_AGE = 12
_INDENT = "  "


@dataclass(frozen=True)
class ChatRow:
    """One entry. `marked` is the chat on screen; `spans` are where the words of the search are in the title."""

    id: str
    title: str
    age: str
    spans: tuple[Span, ...] = ()
    snippet: Snippet | None = None
    pinned: bool = False
    marked: bool = False
    problem: str = ""

    @property
    def height(self) -> int:
        return 2 if self.problem or (self.snippet and self.snippet.text) else 1


class ChatList(ScrollView):
    """A cursor over rows. The keys that move it belong to the screen, whose search field keeps the focus."""

    COMPONENT_CLASSES = {"chat-list--chosen"}
    DEFAULT_CSS = """
    ChatList {
        scrollbar-size-vertical: 1;
        overflow-x: hidden;
        background: transparent;
        & > .chat-list--chosen {
            color: $foreground;
            background: $block-cursor-blurred-background;
        }
        &:nocolor > .chat-list--chosen { text-style: bold underline; }
    }
    """

    class Chosen(Message):
        """The cursor is on another row."""

    class Opened(Message):
        """The row under the cursor was clicked."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.can_focus = False
        self.rows: list[ChatRow] = []
        self.at = 0
        self._ends: list[int] = []
        self._drawn: dict[tuple[int, bool, int], list[Strip]] = {}

    @property
    def chosen(self) -> str | None:
        """The id under the cursor."""
        return self.rows[self.at].id if self.rows else None

    def show(self, rows: Sequence[ChatRow], choose: str | None = None, otherwise: int = 0) -> None:
        """These rows instead; the cursor goes to this id, else to this number, else to the last."""
        self.rows, self._ends, self._drawn = [], [], {}
        self.add(rows)
        found = (number for number, row in enumerate(self.rows) if row.id == choose)
        self.go_to(next(found, otherwise), animate=False)

    def add(self, rows: Sequence[ChatRow]) -> None:
        """More rows below those that are there."""
        for row in rows:
            self._ends.append((self._ends[-1] if self._ends else 0) + row.height)
        self.rows += rows
        self.virtual_size = Size(0, self._ends[-1] if self._ends else 0)
        self.refresh()

    def go_to(self, number: int, *, animate: bool = True) -> None:
        """Put the cursor on the row with this number, or on the nearest there is."""
        self.at = min(max(0, number), max(0, len(self.rows) - 1))
        if self.rows:
            top = self._ends[self.at] - self.rows[self.at].height
            self.scroll_to_region(Region(0, top, 1, self.rows[self.at].height), animate=animate, force=True)
        self.refresh()
        self.post_message(self.Chosen())

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._drawn = {}

    def on_click(self, event: events.Click) -> None:
        """The first click puts the cursor there, another one opens."""
        number = self._row_at(event.y + self.scroll_offset.y)
        if number == self.at and self.rows:
            self.post_message(self.Opened())
        elif number < len(self.rows):
            self.go_to(number)

    def render_line(self, y: int) -> Strip:
        line = y + self.scroll_offset.y
        number, width = self._row_at(line), self.scrollable_content_region.width
        if number >= len(self.rows):
            return Strip.blank(width, self.visual_style.rich_style)
        row = self.rows[number]
        key = number, number == self.at, width
        if key not in self._drawn:
            style = self.get_visual_style("chat-list--chosen") if key[1] else self.visual_style
            self._drawn[key] = Visual.to_strips(self, draw(row, width), width, row.height, style, pad=True)
        return self._drawn[key][line - self._ends[number] + row.height]

    def _row_at(self, line: int) -> int:
        return bisect_right(self._ends, line)


def draw(row: ChatRow, width: int) -> Content:
    """The one or two lines of a row."""
    mark = ("● " if row.marked else "▲ " if row.pinned else _INDENT, "$accent" if row.marked else "dim")
    room = max(8, width - len(_INDENT) - _AGE)
    title = _lit(Content(one_line(row.title) or "(no title)"), row.spans).truncate(room, ellipsis=True)
    title = title.pad_right(max(0, room - title.cell_length))
    lines = [Content.assemble(mark, title, (f"{row.age:>{_AGE}}", "dim"))]
    if row.problem:
        lines.append(Content.assemble(_INDENT, (one_line(row.problem), "$text-warning")))
    elif row.snippet and row.snippet.text:
        lines.append(_INDENT + _lit(Content.styled(row.snippet.text, "dim"), row.snippet.spans))
    return Content("\n").join(line.truncate(width, ellipsis=True) for line in lines)


def _lit(text: Content, spans: tuple[Span, ...]) -> Content:
    for start, end in spans:
        text = text.stylize("bold underline not dim", start, end)
    return text
