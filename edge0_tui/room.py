"""What can be done when a message no longer fits the context. Pure."""

from __future__ import annotations

from typing import Literal

Room = Literal["drop", "new", "larger"]


def ways_out(limit: int) -> list[tuple[Room, str, str]]:
    """Id, words and explanation of each, the one that loses nothing of the conversation first."""
    return [
        (
            "drop",
            "Leave out the oldest messages",
            "for this answer only; they stay in the chat, and it is said below",
        ),
        ("new", "Go on in a new chat", "with this message alone; the present chat stays as it is"),
        ("larger", f"A context of {2 * limit:,} tokens", "loads the model again, if the memory plan allows it"),
    ]
