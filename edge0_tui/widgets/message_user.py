"""What the user said: shown as typed, on its own ground, with long texts and attached files folded."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.content import Content
from textual.style import Style

from edge0_tui import units
from edge0_tui.chat.branches import Place
from edge0_tui.chat.turn import Turn
from edge0_tui.widgets.markdown import Block, Label, Plain, Section
from edge0_tui.widgets.markdown.blocks import Code
from edge0_tui.widgets.markdown.palette import MUTED
from edge0_tui.widgets.markdown.safe import harmless, one_break
from edge0_tui.widgets.message import Message
from edge0_tui.widgets.message_lines import head
from edge0_tui.writing.file_blocks import FileBlock, split

LINES, SHOWN = 40, 12
"""A text with more lines than the first is folded to the second."""


class UserMessage(Message):
    """Not read as Markdown: people type `*` and `_` and mean them."""

    DEFAULT_CSS: ClassVar[str] = """
    UserMessage {
        background: $surface;
        border-left: outer $secondary;
        padding: 0 2 0 1;
    }
    """

    def __init__(self, turn: Turn, place: Place | None = None) -> None:
        self._head: Block = _head(place)
        self._parts = [part if isinstance(part, FileBlock) else part.strip("\n") for part in split(turn.text)]
        self.folds = {number for number, part in enumerate(self._parts) if _is_long(part)}
        self._open: set[int] = set()
        super().__init__(turn.id, [Section(self._blocks())], [turn.text])

    def set_place(self, place: Place | None) -> None:
        self._head = _head(place)
        self._show()

    @property
    def unfolded(self) -> bool:
        """Whether all of it is on screen."""
        return self._open == self.folds

    def unfold_all(self, unfolded: bool) -> None:
        self._open = set(self.folds) if unfolded else set()
        self._show()

    def on_click(self, event: events.Click) -> None:
        if (number := event.style.meta.get("fold")) is not None:
            self._open ^= {number}
            self._show()

    def _show(self) -> None:
        self.sections[0].set(self._blocks())
        self.sections_changed()

    def _blocks(self) -> list[Block]:
        blocks = [self._head]
        for number, part in enumerate(self._parts):
            if isinstance(part, FileBlock):
                blocks += _file(part, number, number in self._open)
            elif part.strip():
                blocks += _text(part, number, number in self._open) if number in self.folds else [Plain(part)]
        return blocks


def _head(place: Place | None) -> Label:
    return head("You", [], "$text-secondary", place)


def _is_long(part: str | FileBlock) -> bool:
    return isinstance(part, FileBlock) or one_break(part).count("\n") >= LINES


def _file(block: FileBlock, number: int, unfolded: bool) -> list[Block]:
    lines = f"{block.lines:,} {'line' if block.lines == 1 else 'lines'}"
    label = _fold(f"{block.name} · {lines} · {units.size(block.size)}", number, unfolded, "$accent")
    code = Code(block.source, spaced=False, text=block.text, language=block.language)
    return [label, code] if unfolded else [label]


def _text(part: str, number: int, unfolded: bool) -> list[Block]:
    lines = one_break(part).split("\n")
    if unfolded:
        return [Plain(part), _fold(f"all {len(lines):,} lines", number, True, MUTED)]
    return [Plain("\n".join(lines[:SHOWN])), _fold(f"{len(lines) - SHOWN:,} more lines", number, False, MUTED)]


def _fold(words: str, number: int, unfolded: bool, style: str) -> Label:
    arrow = "▾" if unfolded else "▸"
    content = Content(harmless(f"{arrow} {words}")).stylize(style).stylize(Style.from_meta({"fold": number}))
    return Label(content.plain, content=content)
