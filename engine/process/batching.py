"""Events waiting to be sent or read: neighbours that say the same kind of thing become one."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from engine.protocol import Delta, Event, Loading, Piece, Prefilling

INTERVAL = 0.066
"""Seconds between two paced events of one kind and request: the rate at which text is drawn."""

PaceKey = tuple[str, str, str]


def pace_key(event: Event) -> PaceKey | None:
    """What a paced event belongs to; None for events that are never held back."""
    match event:
        case Delta() | Prefilling():
            return (type(event).__name__, event.id, "")
        case Loading():
            return ("Loading", event.id, event.phase)
    return None


def join(pieces: Iterable[Piece]) -> list[Piece]:
    """Consecutive pieces of one channel as one piece."""
    return [
        Piece(channel, "".join(piece.text for piece in run))
        for channel, run in groupby(pieces, key=lambda piece: piece.channel)
    ]


class Pending:
    """A queue whose length does not grow with the number of tokens. Not thread-safe.

    Pieces of merged deltas are kept in a list and joined once, in `take`, so that merging stays linear.
    """

    def __init__(self) -> None:
        self._events: list[Event] = []
        self._pieces: list[Piece] = []

    def __len__(self) -> int:
        return len(self._events)

    @property
    def last(self) -> Event | None:
        return self._events[-1] if self._events else None

    def put(self, event: Event) -> None:
        key = pace_key(event)
        if key is not None and self.last is not None and pace_key(self.last) == key:
            self._events.pop()
        else:
            self._seal()
        if isinstance(event, Delta):
            self._pieces.extend(event.pieces)
        self._events.append(event)

    def take(self) -> list[Event]:
        """All events in order; the queue is empty afterwards."""
        self._seal()
        events, self._events = self._events, []
        return events

    def _seal(self) -> None:
        last = self.last
        if isinstance(last, Delta) and self._pieces:
            self._events[-1] = Delta(last.id, join(self._pieces), last.counters)
        self._pieces = []
