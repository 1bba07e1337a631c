"""Two states of one conversation become one that holds everything said in either."""

from __future__ import annotations

from dataclasses import replace

from edge0_tui.chat.conversation import Conversation
from edge0_tui.chat.turn import Turn

_OF_THE_CHAT = ("name", "system", "draft", "sampling", "pinned", "archived")


def merge(ours: Conversation, theirs: Conversation, base: Conversation | None = None) -> Conversation:
    """The union of the turns. Where we look stays ours.

    A turn known to both is taken from where more of it is known: its end, else the longer text. Name, draft and
    what else belongs to the chat as a whole stay ours unless we left them as they were in `base`, the state that
    both came from; then theirs are newer.
    """
    kept = {name: getattr(theirs, name) for name in _OF_THE_CHAT if base and _same(name, ours, base)}
    turns: dict[str, Turn] = {}
    # Ours come second at the same moment, and `max` takes the first of equals: a tie is ours.
    for turn in sorted([*theirs.turns.values(), *ours.turns.values()], key=lambda turn: turn.created):
        known = turns.get(turn.id)
        turns[turn.id] = turn if known is None else max(turn, known, key=_fullness)
    ordered = _parents_first(turns)
    return replace(
        ours,
        **kept,
        turns=ordered,
        chosen={**theirs.chosen, **ours.chosen},
        updated=max(ours.updated, theirs.updated),
    )


def _same(name: str, ours: Conversation, base: Conversation) -> bool:
    """Whether we have nothing to say about it. An emptied draft does not outweigh what another goes on writing."""
    mine = getattr(ours, name)
    return bool(mine == getattr(base, name) or (name == "draft" and not mine))


def _fullness(turn: Turn) -> tuple[bool, int]:
    return turn.finished, len(turn.text) + len(turn.thinking)


def _parents_first(turns: dict[str, Turn]) -> dict[str, Turn]:
    """The same turns in an order in which every parent has been seen. Clocks may have been set back."""
    result: dict[str, Turn] = {}
    for turn in turns.values():
        chain: list[Turn] = []
        step: Turn | None = turn
        while step is not None and step.id not in result:
            chain.append(step)
            step = None if step.parent is None else turns[step.parent]
        result.update((link.id, link) for link in reversed(chain))
    return result
