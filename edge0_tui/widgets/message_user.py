"""What the user said: shown as typed, on its own ground."""

from __future__ import annotations

from typing import ClassVar

from edge0_tui.chat.branches import Place
from edge0_tui.chat.turn import Turn
from edge0_tui.widgets.markdown import Label, Plain, Section
from edge0_tui.widgets.message import Message
from edge0_tui.widgets.message_lines import head


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
        self._head = Section([_head(place)])
        super().__init__(turn.id, [self._head, Section([Plain(turn.text)])], [turn.text])

    def set_place(self, place: Place | None) -> None:
        self._head.set([_head(place)])
        self.sections_changed()


def _head(place: Place | None) -> Label:
    return head("You", [], "$text-secondary", place)
