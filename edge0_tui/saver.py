"""Writes conversations to disk beside the screen: never more than one write at a time, the newest state wins."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING

from edge0_tui.chat.conversation import Conversation

if TYPE_CHECKING:
    from edge0_tui.chat.store import Saved


class Saver:
    """`later` promises a write within `interval` seconds, `now` waits for it. Errors are told once."""

    def __init__(
        self,
        save: Callable[[Conversation], Saved],
        saved: Callable[[Saved], None],
        failed: Callable[[OSError], None],
        interval: float,
    ) -> None:
        self.interval = interval
        self._save = save
        self._saved = saved
        self._failed = failed
        self._waiting: dict[str, Conversation] = {}
        self._writing = asyncio.Lock()
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._told = False

    def later(self, id: str, conversation: Callable[[], Conversation]) -> None:
        """Save what `conversation` gives when the time has come, unless a save of this chat is planned already."""
        if id not in self._timers:
            loop = asyncio.get_running_loop()
            self._timers[id] = loop.call_later(self.interval, self._due, id, conversation)

    async def now(self, conversation: Conversation) -> None:
        """Save this state; returns when it, or a newer one, is on disk or could not be written."""
        self._cancel(conversation.id)
        self._waiting[conversation.id] = conversation
        async with self._writing:
            while self._waiting:
                _, newest = self._waiting.popitem()
                await self._write(newest)

    async def close(self) -> None:
        """Wait for writes that are under way. What is only promised must be saved with `now` before."""
        for id in list(self._timers):
            self._cancel(id)
        for task in list(self._tasks):
            with contextlib.suppress(asyncio.CancelledError):
                await task

    def _due(self, id: str, conversation: Callable[[], Conversation]) -> None:
        del self._timers[id]
        task = asyncio.get_running_loop().create_task(self.now(conversation()), name="autosave")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _cancel(self, id: str) -> None:
        if (timer := self._timers.pop(id, None)) is not None:
            timer.cancel()

    async def _write(self, conversation: Conversation) -> None:
        try:
            saved = await asyncio.to_thread(self._save, conversation)
        except OSError as error:
            if not self._told:
                self._told = True
                self._failed(error)
        else:
            self._told = False
            self._saved(saved)
