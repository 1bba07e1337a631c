"""One message of a transcript: a single widget, whatever it holds."""

from __future__ import annotations

from typing import ClassVar

from edge0_tui.widgets.markdown import BlockView, Section


class Message(BlockView):
    """What question and answer have in common: the turn they show, and the text as it was written."""

    DEFAULT_CSS: ClassVar[str] = """
    Message {
        max-width: 100;
        padding: 0 2;
        margin: 0 0 1 0;
        background: transparent;
        color: $foreground;
    }
    """

    def __init__(self, turn_id: str, sections: list[Section], pieces: list[str]) -> None:
        super().__init__(sections)
        self.turn_id = turn_id
        self._pieces = pieces

    @property
    def text(self) -> str:
        """What copying the message gives."""
        return "".join(self._pieces)
