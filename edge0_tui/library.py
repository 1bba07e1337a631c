"""What the screens fetch from disk: saved conversations."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING

from edge0_tui.paths import Paths

if TYPE_CHECKING:
    from edge0_tui.chat.store import Loaded, TranscriptStore
    from edge0_tui.collection import Collection
    from edge0_tui.installed import Installed


@dataclass(frozen=True)
class ChatLine:
    """A saved conversation that can be gone on with."""

    id: str
    title: str


class Library:
    """Methods without `async` block and are meant for a thread. All raise `StoreError`."""

    def __init__(self, store: Callable[[], TranscriptStore], paths: Paths) -> None:
        self._store, self._paths = store, paths

    @cached_property
    def collection(self) -> Collection:
        """All that can be done with saved chats beside writing the one that is open."""
        from edge0_tui.collection import Collection

        return Collection(self._paths)

    def models(self) -> list[Installed]:
        """What can be loaded now."""
        from edge0_tui.installed import installed_models

        return [model for model in installed_models(self._paths) if model.loadable]

    async def last(self) -> ChatLine | None:
        """The conversation left last, among those without a problem."""
        return await asyncio.to_thread(self._last)

    def _last(self) -> ChatLine | None:
        from edge0_tui.chat.listing import latest

        chat = latest(self._store().directory)
        return None if chat is None else ChatLine(chat.id, chat.title)

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
