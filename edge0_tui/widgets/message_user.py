"""What the user said: shown as typed, on its own ground."""

from __future__ import annotations

from typing import ClassVar

from edge0_tui.chat.turn import Turn
from edge0_tui.widgets.markdown import Plain, Section
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

    def __init__(self, turn: Turn) -> None:
        blocks = [head("You", [], "$text-secondary"), Plain(turn.text)]
        super().__init__(turn.id, [Section(blocks)], [turn.text])
