"""Taking in several exported files at once: each by itself, so that a bad one keeps no other out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from edge0_tui.chat.errors import StoreError
from edge0_tui.one_line import one_line

if TYPE_CHECKING:
    from edge0_tui.collection import Collection, Imported

_NAMED = 4
_TITLE = 60


@dataclass(frozen=True)
class Arrival:
    """The chats that are here now, and a sentence for each file that is not; no file was changed."""

    taken: tuple[Imported, ...] = ()
    refused: tuple[str, ...] = ()

    def __add__(self, later: Arrival) -> Arrival:
        return Arrival(self.taken + later.taken, self.refused + later.refused)

    @property
    def words(self) -> str:
        """All of it as one message."""
        parts = []
        if len(self.taken) == 1:
            only = self.taken[0]
            note = f" ({only.note})" if only.note else ""
            parts.append(f"Imported: {one_line(only.conversation.title, _TITLE) or 'a chat'}{note}.")
        elif self.taken:
            known = sum(not each.new for each in self.taken)
            parts.append(f"{len(self.taken)} chats imported{f', {known} of them here before' if known else ''}.")
        if self.refused:
            more = len(self.refused) - _NAMED
            named = [*self.refused[:_NAMED], *([f"and {more} more"] if more > 0 else [])]
            parts.append(f"Not imported: {' · '.join(named)}.")
        return " ".join(parts)


def take_in(collection: Collection, files: Iterable[Path]) -> Arrival:
    """Import these files. Blocks; nothing is raised for a file that cannot be imported."""
    taken, refused = [], []
    for path in files:
        try:
            taken.append(collection.take_in(path))
        except StoreError as error:
            refused.append(f"{one_line(Path(error.filename).name, _TITLE)}: {error.strerror}")
    return Arrival(tuple(taken), tuple(refused))
