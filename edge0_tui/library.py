"""What the screens fetch from disk: saved conversations."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from edge0_tui.chat.store import Loaded, TranscriptStore


@dataclass(frozen=True)
class ChatLine:
    """One saved conversation as lists show it. With a problem it can still be asked for, and may be refused."""

    id: str
    title: str
    note: str
    problem: bool = False


class Library:
    """Methods without `async` block and are meant for a thread. All raise `StoreError`."""

    def __init__(self, store: Callable[[], TranscriptStore]) -> None:
        self._store = store

    def lines(self) -> Sequence[ChatLine]:
        """The saved conversations that are not archived, newest first."""
        now = datetime.now(UTC)
        return [
            ChatLine(chat.id, chat.title, chat.problem or ago(chat.updated, now), bool(chat.problem))
            for chat in self._store().list()
            if not chat.archived
        ]

    async def last(self) -> ChatLine | None:
        """The conversation left last, among those without a problem."""
        lines = await asyncio.to_thread(self.lines)
        return next((line for line in lines if not line.problem), None)

    async def open(self, id: str) -> Loaded:
        """One conversation, whole."""
        return await asyncio.to_thread(self._store().open, id)


def ago(then: datetime, now: datetime) -> str:
    """How long ago in one unit, and a date for what is older than a week."""
    seconds = (now - then).total_seconds()
    if seconds < 60:
        return "now"
    for unit, length, most in (("min", 60, 60), ("h", 3600, 24), ("d", 86400, 7)):
        if seconds < length * most:
            return f"{int(seconds // length)} {unit} ago"
    return then.astimezone().strftime("%Y-%m-%d")
