"""The reading side of the worker: requests in order, and a stop flag for each."""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import BinaryIO

from engine.protocol import Count, Event, Failed, Generate, Load, Request, Reset, Shutdown, Stop
from engine.wire import MAX_LINE, ProtocolError, decode

log = logging.getLogger(__name__)


@dataclass(eq=False)
class Job:
    """A request for the computing thread. `cancelled` is set from the reading thread."""

    request: Load | Generate | Count | Reset
    cancelled: threading.Event = field(default_factory=threading.Event)


class Inbox:
    """Jobs between the reading and the computing thread. Stop reaches queued and running jobs alike."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._jobs: deque[Job] = deque()
        self._running: Job | None = None
        self._closed = False

    @property
    def busy(self) -> str:
        """The kind of request being computed, empty when idle."""
        job = self._running
        return type(job.request).__name__.lower() if job else ""

    def submit(self, request: Request) -> None:
        match request:
            case Stop():
                self._stop(request.id)
            case Shutdown():
                self.close()
            case Load() | Generate() | Count() | Reset():
                with self._changed:
                    self._jobs.append(Job(request))
                    self._changed.notify()

    def next(self) -> Job | None:
        """Wait for a job, which then counts as running; None after `close`."""
        with self._changed:
            self._running = None
            while not self._jobs and not self._closed:
                self._changed.wait()
            if self._closed:
                return None
            self._running = self._jobs.popleft()
            return self._running

    def close(self) -> None:
        """Stop everything; waiting jobs are dropped."""
        with self._changed:
            self._closed = True
            for job in self._all():
                job.cancelled.set()
            self._jobs.clear()
            self._changed.notify()

    def _stop(self, request_id: str) -> None:
        with self._changed:
            for job in self._all():
                if not isinstance(job.request, Reset) and job.request.id == request_id:
                    job.cancelled.set()

    def _all(self) -> list[Job]:
        return [*([self._running] if self._running else []), *self._jobs]


def read_requests(stream: BinaryIO, submit: Callable[[Request], None], emit: Callable[[Event], None]) -> None:
    """Submit every request of `stream` up to its end or `Shutdown`. Other lines are logged and refused."""
    while line := stream.readline(MAX_LINE):
        try:
            if not line.endswith(b"\n"):
                _skip_line(stream)
                raise ProtocolError(f"a line longer than {MAX_LINE} bytes, or cut short")
            message = decode(line)
            if not isinstance(message, Request):
                raise ProtocolError(f"{type(message).__name__} is an event, not a request")
        except ProtocolError as error:
            log.error("refused a line: %s", error)
            emit(Failed("", "usage", f"The engine did not understand a request: {error}"))
        else:
            submit(message)
            if isinstance(message, Shutdown):
                return


def _skip_line(stream: BinaryIO) -> None:
    while (rest := stream.readline(1 << 20)) and not rest.endswith(b"\n"):
        pass
