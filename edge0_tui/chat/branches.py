"""Where the turns of a path stand among their siblings."""

from __future__ import annotations

from collections.abc import Mapping

from edge0_tui.chat.conversation import Conversation
from edge0_tui.chat.turn import Turn

Place = tuple[int, int]
"""The 2 and the 3 of ‹2/3›."""


def places(conversation: Conversation) -> Mapping[str, Place]:
    """The place of every turn that has siblings. One pass, since long chats are opened often."""
    families: dict[str | None, list[str]] = {}
    for turn in conversation.turns.values():
        families.setdefault(turn.parent, []).append(turn.id)
    return {
        id: (number, len(family))
        for family in families.values()
        if len(family) > 1
        for number, id in enumerate(family, start=1)
    }


def neighbour(conversation: Conversation, turn_id: str, step: int) -> Turn | None:
    """The sibling so many places further; None beyond either end."""
    family = conversation.siblings(turn_id)
    at = next(index for index, turn in enumerate(family) if turn.id == turn_id) + step
    return family[at] if 0 <= at < len(family) else None
