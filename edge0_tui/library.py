"""What the screens fetch from disk: saved conversations and installed checkpoints."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime

from edge0_tui.chat.conversation import Conversation
from edge0_tui.chat.store import TranscriptStore
from edge0_tui.installed import Installed, installed_models
from edge0_tui.paths import Paths
from edge0_tui.screens.chats import ChatLine


class Library:
    """Methods without `async` block and are meant for a thread."""

    def __init__(self, store: TranscriptStore, paths: Paths) -> None:
        self._store, self._paths = store, paths

    def lines(self) -> Sequence[ChatLine]:
        """The saved conversations, newest first."""
        now = datetime.now(UTC)
        return [ChatLine(summary.id, summary.title, ago(summary.updated, now)) for summary in self._store.list()]

    def models(self) -> Sequence[Installed]:
        """What can be loaded."""
        return installed_models(self._paths)

    async def last(self) -> ChatLine | None:
        """The conversation left last."""
        lines = await asyncio.to_thread(self.lines)
        return lines[0] if lines else None

    async def open(self, id: str) -> Conversation:
        """One conversation, whole."""
        return await asyncio.to_thread(self._store.load, id)


def ago(then: datetime, now: datetime) -> str:
    """How long ago in one unit, and a date for what is older than a week."""
    seconds = (now - then).total_seconds()
    if seconds < 60:
        return "now"
    for unit, length, most in (("min", 60, 60), ("h", 3600, 24), ("d", 86400, 7)):
        if seconds < length * most:
            return f"{int(seconds // length)} {unit} ago"
    return then.astimezone().strftime("%Y-%m-%d")
