"""Going from message to message: one of them is chosen, and what is done next is done to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.message import Message as TextualMessage

from edge0_tui.widgets.transcript_path import PathView

if TYPE_CHECKING:
    from edge0_tui.widgets.message import Message

_CHOSEN = "-chosen"


class WalkingView(PathView):
    """`chosen` is the message with the mark; None most of the time."""

    class Walked(TextualMessage):
        """Another message is chosen, or none any longer."""

    chosen: Message | None = None

    async def walk(self, step: int) -> None:
        """Choose the message before (-1) or after (1) the chosen one; before anything is chosen, the last."""
        at = len(self.messages) + (0 if step < 0 else -1)
        if self.chosen in self.messages:
            at = self.messages.index(self.chosen)
        if at + step < 0 and self.earlier:
            number = len(self.messages)
            await self.fetch_earlier()
            at += len(self.messages) - number
        if 0 <= at + step < len(self.messages):
            self._choose(self.messages[at + step])

    def choose(self, turn_id: str) -> None:
        """Choose the message of this turn, if it is mounted."""
        for message in self.messages:
            if message.turn_id == turn_id:
                self._choose(message)

    def leave(self) -> bool:
        """Choose none; true if one was chosen."""
        if self.chosen is None:
            return False
        self.chosen.remove_class(_CHOSEN)
        self.chosen = None
        self.post_message(self.Walked())
        return True

    def _choose(self, message: Message, scroll: bool = True) -> None:
        if self.chosen is not None and self.chosen is not message:
            self.chosen.remove_class(_CHOSEN)
        self.chosen = message
        message.add_class(_CHOSEN)
        if scroll:
            self.release_anchor()
            self.call_after_refresh(self.scroll_to_widget, message.row, animate=False)
        self.post_message(self.Walked())
