"""What goes with the prompt: folded texts and files with their sizes, and what this chat has of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual.content import Content
from textual.widgets import Static

from edge0_tui.safe_text import harmless
from edge0_tui.token_counts import TokenCount

ROWS = 4
_MOST_NAME = 40


@dataclass(frozen=True)
class Part:
    """One text that is sent with the prompt; with a `problem` it would not be."""

    name: str
    size: str = ""
    count: TokenCount | None = None
    problem: str = ""


class PromptNotes(Static):
    """Hidden while there is nothing to say."""

    DEFAULT_CSS = """
    PromptNotes { height: auto; padding: 0 0 0 2; text-wrap: nowrap; text-overflow: ellipsis; }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(markup=False, id=id)
        self.display = False
        self.parts: tuple[Part, ...] = ()
        self.chat = ""
        self.room = 0

    def show(self, parts: Sequence[Part], chat: str, room: int = 0) -> None:
        """`chat` says what this chat has of its own, as `precise · seed 7`; `room` is the context in tokens."""
        if (tuple(parts), chat, room) == (self.parts, self.chat, self.room):
            return
        self.parts, self.chat, self.room = tuple(parts), chat, room
        lines = self._lines()
        self.display = bool(lines)
        self.update(Content("\n").join(lines))

    @property
    def total(self) -> TokenCount | None:
        """Tokens of all parts."""
        counts = [part.count for part in self.parts if part.count]
        return sum(counts[1:], counts[0]) if counts else None

    def _lines(self) -> list[Content]:
        shown = self.parts if len(self.parts) <= ROWS else self.parts[: ROWS - 1]
        width = max((min(_MOST_NAME, len(part.name)) for part in shown), default=0)
        lines = [_line(part, width) for part in shown]
        last: list[str] = []
        if len(shown) < len(self.parts):
            last.append(f"and {len(self.parts) - len(shown)} more")
        if len(self.parts) > 1 and self.total is not None:
            last.append(f"in all {self.total}")
        if self.chat:
            last.append(harmless(self.chat))
        if last:
            lines.append(Content.styled(" · ".join(last), "$text-muted"))
        if self.room and self.total is not None and self.total.tokens > self.room:
            lines.append(Content.styled(f"more than the context of {self.room:,} tokens holds", "$warning"))
        return lines


def _line(part: Part, width: int) -> Content:
    name = Content.styled(harmless(part.name), "$warning" if part.problem else "$accent")
    name = name.truncate(width, ellipsis=True).pad_right(max(0, width - name.cell_length))
    told = part.problem or " · ".join(filter(None, (part.size, str(part.count) if part.count else "")))
    return Content.assemble(name, "  ", (harmless(told), "$warning" if part.problem else "$text-muted"))
