"""A sign of life every second, from a thread that shares no lock with the computing one."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from engine.footprint import footprint
from engine.protocol import Event, Heartbeat

PERIOD = 1.0
"""Seconds between two heartbeats."""


def start_heartbeat(emit: Callable[[Event], None], busy: Callable[[], str], period: float = PERIOD) -> None:
    """Emit a `Heartbeat` at once and then every `period` seconds until the process ends."""
    started = time.monotonic()

    def beat() -> None:
        while True:
            emit(Heartbeat(time.monotonic() - started, busy(), footprint()))
            time.sleep(period)

    threading.Thread(target=beat, name="heartbeat", daemon=True).start()
