"""The list of chats: title and age in a line, and below it, while searching, the text that was found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual.content import Content
from textual.visual import VisualType
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from edge0_tui.chat.query import Snippet, Span, one_line

_AGE = 12
_INDENT = "  "


@dataclass(frozen=True)
class ChatRow:
    """One line. `marked` is the chat on screen; `spans` are where the words of the search are in the title."""

    id: str
    title: str
    age: str
    spans: tuple[Span, ...] = ()
    snippet: Snippet | None = None
    pinned: bool = False
    marked: bool = False
    problem: str = ""


class ChatList(OptionList):
    """Rows are drawn for the width there is when they are drawn; texts are never markup."""

    DEFAULT_CSS = """
    ChatList {
        text-wrap: nowrap;
        text-overflow: ellipsis;
        scrollbar-size-vertical: 1;
        background: transparent;
        &:nocolor > .option-list--option-highlighted { text-style: bold underline; }
    }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id, compact=True, markup=False)
        self.can_focus = False

    def add(self, rows: Sequence[ChatRow]) -> None:
        """More rows below those that are there."""
        width = max(20, self.scrollable_content_region.width or self.size.width)
        self.add_options([Option(draw(row, width), id=row.id) for row in rows])
        if self.highlighted is None and self.option_count:
            self.highlighted = 0

    @property
    def chosen(self) -> str | None:
        """The id under the cursor."""
        option = self.highlighted_option
        return option.id if option else None

    def choose(self, id: str | None, otherwise: int = 0) -> None:
        """Put the cursor on this id, else on this line, else on the last."""
        if not self.option_count:
            return
        ids = [option.id for option in self.options]
        self.highlighted = ids.index(id) if id in ids else min(max(0, otherwise), len(ids) - 1)


def draw(row: ChatRow, width: int) -> VisualType:
    """The one or two lines of a row."""
    mark = ("● " if row.marked else "▲ " if row.pinned else _INDENT, "$accent" if row.marked else "dim")
    room = width - len(_INDENT) - _AGE
    title = _lit(Content(one_line(row.title) or "(no title)"), row.spans)
    title = title.truncate(room, ellipsis=True).pad_right(max(0, room - title.cell_length))
    age = Content.styled(f"{row.age:>{_AGE}}", "dim")
    lines = [Content.assemble(mark, title, age)]
    if row.problem:
        lines.append(Content.assemble(_INDENT, (one_line(row.problem), "$text-warning")))
    elif row.snippet and row.snippet.text:
        found = _lit(Content.styled(row.snippet.text, "dim"), row.snippet.spans)
        lines.append(Content.assemble(_INDENT, found).truncate(width, ellipsis=True))
    return Content("\n").join(lines)


def _lit(text: Content, spans: tuple[Span, ...]) -> Content:
    for start, end in spans:
        text = text.stylize("bold underline not dim", start, end)
    return text
