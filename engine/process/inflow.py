"""The events of one request on their way to a consumer that may be slower than the engine."""

from __future__ import annotations

import asyncio

from engine.errors import EngineError
from engine.process.batching import Pending
from engine.protocol import Event


class Inflow:
    """Waiting events are merged, so their number does not grow with the length of a reply."""

    def __init__(self) -> None:
        self._pending = Pending()
        self._error: EngineError | None = None
        self._changed = asyncio.Event()

    def put(self, event: Event) -> None:
        self._pending.put(event)
        self._changed.set()

    def fail(self, error: EngineError) -> None:
        """No more events will come; what waits is still delivered."""
        self._error = error
        self._changed.set()

    async def take(self) -> list[Event]:
        """Everything that waits, at least one event. Raises the error given to `fail` after the last one."""
        await self._changed.wait()
        events = self._pending.take()
        if not events and self._error is not None:
            raise self._error
        if self._error is None:
            self._changed.clear()
        return events
