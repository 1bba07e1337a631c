"""The writing side of the worker: one thread owns the protocol stream, so computing never waits for a reader."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from engine.process.batching import INTERVAL, PaceKey, Pending, pace_key
from engine.protocol import Event, Heartbeat
from engine.wire import encode

log = logging.getLogger(__name__)


class Outbox:
    """Events on their way out, paced to one per `interval` seconds and kind while nothing else waits.

    The first event of a kind and everything that ends a request go out at once. `on_broken` is called from the
    writer thread when the stream can no longer be written.
    """

    def __init__(
        self, write: Callable[[bytes], None], on_broken: Callable[[], None], interval: float = INTERVAL
    ) -> None:
        self._write = write
        self._on_broken = on_broken
        self._interval = interval
        self._changed = threading.Condition()
        self._pending = Pending()
        self._beat: Heartbeat | None = None
        self._closed = False
        self._sent: tuple[PaceKey | None, float] = (None, 0.0)
        self._thread = threading.Thread(target=self._run, name="protocol-writer", daemon=True)
        self._thread.start()

    def put(self, event: Event) -> None:
        """Hand over an event. Never blocks on the stream."""
        with self._changed:
            if isinstance(event, Heartbeat):
                self._beat = event
                self._changed.notify()
                return
            before = len(self._pending)
            self._pending.put(event)
            if len(self._pending) != before:
                self._changed.notify()

    def close(self, timeout: float) -> bool:
        """Write what is left and end the thread; False if that took longer than `timeout` seconds."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def _run(self) -> None:
        try:
            while (events := self._next()) is not None:
                for event in events:
                    self._write(encode(event))
                self._sent = (pace_key(events[-1]), time.monotonic())
        except OSError as error:
            log.warning("nobody reads the events any more: %s", error)
        finally:
            if not self._closed:
                self._on_broken()

    def _next(self) -> list[Event] | None:
        with self._changed:
            while True:
                if self._beat is not None:
                    beat, self._beat = self._beat, None
                    return [beat]
                wait = self._wait()
                if wait is not None and wait <= 0:
                    return self._pending.take()
                if wait is None and self._closed:
                    return None
                self._changed.wait(wait)

    def _wait(self) -> float | None:
        """Seconds until the pending events are due; None if there are none."""
        if self._pending.last is None:
            return None
        key, sent_at = pace_key(self._pending.last), self._sent[1]
        if self._closed or len(self._pending) > 1 or key is None or key != self._sent[0]:
            return 0.0
        return sent_at + self._interval - time.monotonic()
