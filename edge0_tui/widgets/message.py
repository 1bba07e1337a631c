"""One message of a transcript: a single widget, whatever it holds."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.message import Message as TextualMessage
from textual.widget import Widget

from edge0_tui.chat.branches import Place
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
        &.-chosen { border-left: outer $accent; padding: 0 2 0 1; background: $boost; }
    }
    """

    class Chosen(TextualMessage):
        """The name of the message was clicked."""

        def __init__(self, turn_id: str) -> None:
            super().__init__()
            self.turn_id = turn_id

    class VersionWanted(TextualMessage):
        """One of the arrows beside the number of the version was clicked; `step` is -1 or 1."""

        def __init__(self, turn_id: str, step: int) -> None:
            super().__init__()
            self.turn_id = turn_id
            self.step = step

    def __init__(self, turn_id: str, sections: list[Section], pieces: list[str]) -> None:
        super().__init__(sections)
        self.turn_id = turn_id
        self.row: Widget = self
        """What stands in the transcript: the message, or what it is beside others in."""
        self._pieces = pieces

    @property
    def text(self) -> str:
        """What copying the message gives."""
        return "".join(self._pieces)

    @property
    def codes(self) -> list[str]:
        """The code blocks in it, from top to bottom."""
        return [code for section in self.sections for entry in section.entries for code in entry.codes]

    def set_place(self, place: Place | None) -> None:
        """Which of several versions this is, if there are several."""

    def on_click(self, event: events.Click) -> None:
        meta = event.style.meta
        if step := meta.get("version"):
            self.post_message(self.VersionWanted(self.turn_id, step))
        elif meta.get("choose"):
            self.post_message(self.Chosen(self.turn_id))
