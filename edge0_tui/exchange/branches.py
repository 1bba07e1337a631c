"""A tree of turns as a flat list of runs, for formats that are read from top to bottom."""

from __future__ import annotations

from dataclasses import dataclass

from edge0_tui.chat.conversation import Conversation
from edge0_tui.chat.turn import Turn


@dataclass(frozen=True)
class Branch:
    """Turns that follow one another. `after` is what the first of them follows, None for the beginning."""

    turns: tuple[Turn, ...]
    after: Turn | None


def branches(conversation: Conversation) -> list[Branch]:
    """Everything that is not on the active path, each turn once and below what it follows."""
    goes_on = dict(conversation.chosen)
    end = conversation.last.id if conversation.last else None
    runs: dict[str, list[Turn]] = {}
    on_run: dict[str, str] = {turn.id: "" for turn in conversation.path}
    for turn in conversation.turns.values():
        if turn.id in on_run:
            continue
        following = turn.parent not in (None, end) and goes_on.setdefault(turn.parent, turn.id) == turn.id
        start = on_run[turn.parent] if following and turn.parent is not None else turn.id
        on_run[turn.id] = start
        runs.setdefault(start, []).append(turn)
    return [
        Branch(tuple(turns), conversation.turns[turns[0].parent] if turns[0].parent is not None else None)
        for turns in runs.values()
    ]
