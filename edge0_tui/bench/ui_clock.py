"""Clocks of the screen's measurements."""

from __future__ import annotations

import asyncio
import contextlib
import time
from dataclasses import dataclass
from typing import Any, Self

from textual.app import App
from textual.pilot import Pilot

_TICK = 0.005


@dataclass(frozen=True)
class Streaming:
    """Processor seconds of this process, the loop's lag in seconds, and how long the text took."""

    cpu: float
    lag_p99: float
    seconds: float


class Lag:
    """How much later than asked for the event loop comes back, sampled all the time."""

    def __init__(self) -> None:
        self._late: list[float] = []

    @property
    def p99(self) -> float:
        """The 99th percentile, weighted by time: a loop that hangs for a second missed many ticks."""
        missed = [late - n * _TICK for late in self._late for n in range(int(late / _TICK) + 1)]
        return sorted(missed)[int(len(missed) * 0.99)]

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._watch())
        return self

    async def __aexit__(self, *_: object) -> None:
        self._task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._task

    async def _watch(self) -> None:
        while True:
            before = time.perf_counter()
            await asyncio.sleep(_TICK)
            self._late.append(max(0.0, time.perf_counter() - before - _TICK))


async def blur_and_focus(app: App[Any], pilot: Pilot[Any]) -> float:
    """Processor seconds until the terminal's loss and return of the focus have been dealt with."""
    start = time.process_time()
    for has in (False, True):
        app.app_focus = has
        await pilot.pause()
    return time.process_time() - start
