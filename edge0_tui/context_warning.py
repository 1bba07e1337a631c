"""Says once for each chat that the context fills up, before anything would not fit."""

from __future__ import annotations

from edge0_tui.notices import Notice

CONTEXT = "context"
WARNING_FROM = 0.8
"""Share of the context in use from which the meter changes its colour and a word is said."""


class ContextWarning:
    """Remembers which chat was told; a chat that has become shorter again is told anew."""

    def __init__(self) -> None:
        self._told = ""

    def check(self, chat_id: str, context: tuple[int | None, int] | None) -> Notice | None:
        """What to say after a reply; `context` are the tokens in use, if known, and the limit."""
        used, limit = context or (None, 0)
        if not used or used < WARNING_FROM * limit:
            self._told = "" if self._told == chat_id else self._told
            return None
        if self._told == chat_id:
            return None
        self._told = chat_id
        return Notice(
            f"The context is {100 * used // limit} % full: {used:,} of {limit:,} tokens.",
            "When a message no longer fits, you are asked what to do; nothing is dropped before.",
            "warning",
            CONTEXT,
        )
