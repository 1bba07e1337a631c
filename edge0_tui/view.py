"""The screen, as the controller sees it."""

from __future__ import annotations

from typing import Protocol

from edge0_tui.chat.conversation import Conversation
from edge0_tui.chat.turn import Attribution, Turn
from edge0_tui.notices import Notice
from engine.protocol import Piece


class ChatView(Protocol):
    """Calls must not block."""

    def changed(self) -> None:
        """Anything outside the transcript may look different now; may be called very often."""

    async def show_conversation(self, conversation: Conversation) -> None: ...

    def show_branch(self, conversation: Conversation, beside: tuple[str, ...] = (), without: str = "") -> None:
        """The same conversation, looked at elsewhere. `beside` are answers shown beside each other; `without` is
        an answer for which `show_reply` comes next."""

    def show_user(self, turn: Turn) -> None: ...

    def show_reply(self, turn: Turn, model: str) -> None:
        """A reply begins; a turn that is on screen already goes on."""

    def show_pieces(self, pieces: list[Piece], thinking_tokens: int) -> None: ...

    def show_finish(self, attribution: Attribution) -> None: ...

    def show_notice(self, notice: Notice) -> None: ...

    def close_notice(self, topic: str) -> None: ...

    def ask_for_room(self, answer: Turn, refusal: str) -> None:
        """The prompt is longer than the context: nothing is dropped before the person has said what to do."""

    def draft(self) -> str:
        """What stands in the prompt, not sent."""

    def give_back(self, text: str) -> None:
        """Put a text that was not sent back into the prompt."""

    def set_prompt(self, text: str) -> None:
        """Replace what stands in the prompt."""
