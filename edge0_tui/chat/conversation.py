"""A conversation is a tree: editing a question or asking again adds a sibling and loses nothing.

Every operation returns a new conversation. `chosen` remembers, for each turn (and for None, the root), which
child was looked at last; following it from the root gives the active path, so that going back to another
branch finds it as it was left.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property

from edge0_tui.chat.chat_sampling import ChatSampling
from edge0_tui.chat.turn import Turn, new_id, now
from engine.protocol import Message


@dataclass(frozen=True)
class Conversation:
    """All turns of one chat in the order they were made, and what belongs to the chat as a whole."""

    id: str = field(default_factory=new_id)
    turns: Mapping[str, Turn] = field(default_factory=dict)
    chosen: Mapping[str | None, str] = field(default_factory=dict)
    name: str = ""
    system: str = ""
    draft: str = ""
    sampling: ChatSampling = field(default_factory=ChatSampling)
    pinned: bool = False
    archived: bool = False
    created: datetime = field(default_factory=now)
    updated: datetime = field(default_factory=now)

    # --- reading --------------------------------------------------------------------------------------------

    @property
    def path(self) -> list[Turn]:
        """The turns on screen, first to last."""
        result: list[Turn] = []
        turn_id = self.chosen.get(None)
        while turn_id is not None:
            result.append(self.turns[turn_id])
            turn_id = self.chosen.get(turn_id)
        return result

    @property
    def last(self) -> Turn | None:
        path = self.path
        return path[-1] if path else None

    @property
    def title(self) -> str:
        """The name given by the user, else the first line of the first question, else of what is being written."""
        return self.name or derived_title(self.path) or first_line(self.draft)

    def siblings(self, turn_id: str) -> list[Turn]:
        """The turn and its alternatives, oldest first: the 2/3 of ‹2/3› is a position in this list."""
        return self._children[self.turns[turn_id].parent]

    @cached_property
    def _children(self) -> Mapping[str | None, list[Turn]]:
        """By what they follow; made once, as a file with many turns asks for each turn's siblings."""
        result: dict[str | None, list[Turn]] = {}
        for turn in self.turns.values():
            result.setdefault(turn.parent, []).append(turn)
        return result

    def ancestors(self, turn_id: str) -> list[Turn]:
        """The turn and everything it follows, first to last."""
        result: list[Turn] = []
        step: str | None = turn_id
        while step is not None:
            result.append(self.turns[step])
            step = self.turns[step].parent
        return result[::-1]

    def messages(self) -> list[Message]:
        """The active path as the engine takes it. An answer without any text is left out."""
        system = [Message("system", self.system)] if self.system else []
        spoken = [turn for turn in self.path if turn.text or turn.role != "assistant"]
        return system + [Message(turn.role, turn.text, turn.thinking) for turn in spoken]

    # --- changing -------------------------------------------------------------------------------------------

    def add(self, turn: Turn) -> Conversation:
        """Append a turn below its parent and look at it. The same parent as another turn makes a sibling."""
        if turn.parent is not None and turn.parent not in self.turns:
            raise KeyError(f"turn {turn.id} follows {turn.parent}, which is not in this conversation")
        if turn.id in self.turns:
            raise KeyError(f"turn {turn.id} is already in this conversation")
        grown = replace(self, turns={**self.turns, turn.id: turn}, updated=max(self.updated, turn.created))
        return grown.show(turn.id)

    def put(self, turn: Turn) -> Conversation:
        """Replace a turn by a later state of itself, as a growing answer is."""
        if self.turns[turn.id].parent != turn.parent:
            raise ValueError(f"turn {turn.id} cannot move to another parent")
        return replace(self, turns={**self.turns, turn.id: turn}, updated=now())

    def show(self, turn_id: str) -> Conversation:
        """Look at the branch this turn is on, as far down as it was last followed."""
        steps = {turn.parent: turn.id for turn in self.ancestors(turn_id)}
        return replace(self, chosen={**self.chosen, **steps})

    def fork(self, turn_id: str) -> Conversation:
        """A new chat with the turns up to this one; both go their own way from here."""
        path = self.ancestors(turn_id)
        return Conversation(
            turns={turn.id: turn for turn in path},
            chosen={turn.parent: turn.id for turn in path},
            name=self.name,
            system=self.system,
            sampling=self.sampling,
        )

    def duplicate(self) -> Conversation:
        """A new chat with all the turns and branches of this one."""
        moment = now()
        return replace(self, id=new_id(), name=f"{self.title} (copy)", pinned=False, created=moment, updated=moment)

    def visible(self) -> Conversation:
        """The same chat with the active path alone."""
        path = self.path
        chosen = {turn.parent: turn.id for turn in path}
        return replace(self, turns={turn.id: turn for turn in path}, chosen=chosen)


def derived_title(path: list[Turn], limit: int = 60) -> str:
    """The first line with words of the first question, without Markdown's marks, cut at a word."""
    return first_line(next((turn.text for turn in path if turn.role == "user"), ""), limit)


def first_line(text: str, limit: int = 60) -> str:
    """As `derived_title`, of any text."""
    lines = (" ".join(line.strip(" \t#>*`_-").split()) for line in text.split("\n"))
    line = next((line for line in lines if line), "")
    if len(line) <= limit:
        return line
    cut = line[: limit - 1]
    return cut.rsplit(" ", 1)[0] + "…" if " " in cut else cut + "…"
