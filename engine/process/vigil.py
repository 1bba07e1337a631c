"""Decides when an engine counts as unresponsive. Pure bookkeeping, no tasks of its own."""

from __future__ import annotations

import time

from engine.interface import Responsive, Unresponsive


class Vigil:
    """Remembers when something was last heard and which stops have not been obeyed. Times in seconds."""

    def __init__(self, patience: float) -> None:
        self.patience = patience
        self.state: Unresponsive | None = None
        self._heard_at = 0.0
        self._looked_at = 0.0
        self._stopping: dict[str, float | None] = {}

    def begin(self) -> None:
        """A new process has been started."""
        self.end()
        self._heard_at = self._looked_at = time.monotonic()

    def end(self) -> None:
        self.state = None
        self._stopping.clear()

    def heard(self) -> None:
        self._heard_at = time.monotonic()

    def asked(self, request_id: str) -> None:
        self._stopping[request_id] = None

    def answered(self, request_id: str) -> None:
        self._stopping.pop(request_id, None)

    def stopping(self, request_id: str) -> bool:
        """Note a stop; False if that request is not open or was stopped before."""
        if self._stopping.get(request_id, 0.0) is not None:
            return False
        self._stopping[request_id] = time.monotonic()
        return True

    def look(self, now: float) -> list[Unresponsive | Responsive]:
        """What has changed since the last look."""
        if now - self._looked_at > self.patience / 2:
            # This side was blocked itself: lines may wait unread, so silence proves nothing.
            self._heard_at = now
        self._looked_at = now
        before, self.state = self.state, self._judge(now)
        if self.state is not None and (before is None or before.reason != self.state.reason):
            return [self.state]
        return [Responsive()] if before is not None and self.state is None else []

    def _judge(self, now: float) -> Unresponsive | None:
        if (silent := now - self._heard_at) > self.patience:
            return Unresponsive("silent", silent)
        waiting = [now - at for at in self._stopping.values() if at is not None]
        if waiting and max(waiting) > self.patience:
            return Unresponsive("stop", max(waiting))
        return None
