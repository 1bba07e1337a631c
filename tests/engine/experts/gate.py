"""Ranges under a test's control: reads that hang until told, or fail."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from engine.experts.readers import ReaderPool
from engine.experts.record import ByteRange, Key
from tests.engine.experts.library import Library


class Gate:
    """A library's ranges; keys in `held` wait for `open`, keys in `beyond` point past the end of their file."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self.held: set[Key] = set()
        self.beyond: set[Key] = set()
        self.begun: list[Key] = []
        self._opened = threading.Event()
        self._changed = threading.Condition()

    def ranges(self, layer: int, expert: int) -> list[ByteRange]:
        with self._changed:
            self.begun.append((layer, expert))
            self._changed.notify_all()
        if (layer, expert) in self.held:
            assert self._opened.wait(60)
        spans = self.library.ranges(layer, expert)
        if (layer, expert) in self.beyond:
            last = spans[-1]
            spans = [*spans[:-1], ByteRange(last.path, last.path.stat().st_size - 5, last.nbytes)]
        return spans

    def wait_for(self, *keys: Key) -> None:
        """Until readers have begun these keys."""
        with self._changed:
            assert self._changed.wait_for(lambda: set(keys) <= set(self.begun), timeout=60)

    def open(self) -> None:
        self._opened.set()


def when_waited_on(pool: ReaderPool, action: Callable[[], None], seconds: float = 0.02) -> None:
    """Do `action` that long after somebody has begun to wait for the pool, however slow the machine is."""
    waited_on, real = threading.Event(), pool._done.wait

    def wait(timeout: float | None = None) -> bool:
        waited_on.set()
        return real(timeout)

    def act() -> None:
        assert waited_on.wait(60)
        time.sleep(seconds)
        action()

    pool._done.wait = wait  # type: ignore[method-assign]
    threading.Thread(target=act, daemon=True).start()
