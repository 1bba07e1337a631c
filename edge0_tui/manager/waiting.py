"""Waiting between attempts: longer each time, until patience is used up. Bytes make patience new."""

from __future__ import annotations

import time

from edge0_tui.manager.tuning import Tuning


class Waiting:
    """`next` is how long to wait before the next attempt, None when there should be none."""

    def __init__(self, tuning: Tuning) -> None:
        self._tuning = tuning
        self._attempts = 0
        self._since = time.monotonic()

    def arrived(self) -> None:
        """Bytes have come."""
        self._attempts = 0
        self._since = time.monotonic()

    def next(self, asked: float = 0.0) -> float | None:
        """`asked`: what the server wants to be waited (Retry-After), in seconds."""
        left = self._tuning.patience - (time.monotonic() - self._since)
        wait = min(self._tuning.first_wait * 2.0**self._attempts, self._tuning.longest_wait)
        self._attempts = min(self._attempts + 1, 30)
        wait = max(wait, asked)
        return None if left <= 0 or wait > left else wait
