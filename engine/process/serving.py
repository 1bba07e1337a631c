"""Turns requests into calls of a session, and their outcome into events. Runs on the computing thread."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Protocol

from engine.errors import EngineError
from engine.process.inbox import Job
from engine.protocol import (
    Channel,
    Count,
    Counted,
    Counters,
    Delta,
    Event,
    Failed,
    Finished,
    Generate,
    Load,
    Loaded,
    Loading,
    ModelInfo,
)

log = logging.getLogger(__name__)


class Session(Protocol):
    """What computes. Every call comes from one thread."""

    def load(
        self, request: Load, progress: Callable[[str, int, int], None], cancelled: Callable[[], bool]
    ) -> ModelInfo: ...

    def generate(
        self, request: Generate, emit: Callable[[Event], None], cancelled: Callable[[], bool]
    ) -> Finished: ...

    def count(self, request: Count) -> Counted: ...

    def reset(self) -> None: ...

    def close(self) -> None: ...


class Server:
    """Answers jobs one after the other. The session is made on first use, so that start-up stays cheap."""

    def __init__(self, make_session: Callable[[], Session], emit: Callable[[Event], None]) -> None:
        self._make_session = make_session
        self._emit = emit
        self._session: Session | None = None
        self._loaded = False

    def handle(self, job: Job) -> None:
        """Compute one job. Never raises: whatever goes wrong becomes a `Failed` event."""
        partial: dict[Channel, list[str]] = {"answer": [], "thinking": []}
        try:
            match job.request:
                case Load():
                    self._load(job.request, job)
                case Generate():
                    self._generate(job.request, job, partial)
                case Count():
                    self._count(job.request)
                case _:
                    if self._session is not None:
                        self._session.reset()
        except EngineError as error:
            log.error("%s: %s", type(error).__name__, error)
            self._fail(job, error.kind, error.message, error.hint, partial)
        except Exception as error:  # the outermost place: one bad request must not end the process
            log.exception("request failed")
            message = f"{type(error).__name__}: {error}"
            self._fail(job, "engine", message, "The engine's log has the details.", partial)

    def close(self) -> None:
        if self._session is not None:
            self._session.close()

    def _load(self, request: Load, job: Job) -> None:
        if job.cancelled.is_set():
            self._emit(Failed(request.id, "engine", "The load was stopped."))
            return
        if self._session is None:
            self._session = self._make_session()

        def progress(phase: str, done: int, total: int) -> None:
            self._emit(Loading(request.id, phase, done, total))

        info = self._session.load(request, progress, job.cancelled.is_set)
        self._loaded = True
        self._emit(Loaded(request.id, info))

    def _generate(self, request: Generate, job: Job, partial: dict[Channel, list[str]]) -> None:
        if self._session is None or not self._loaded:
            self._emit(Failed(request.id, "usage", "No model is loaded yet.", "Load one first."))
            return
        if job.cancelled.is_set():
            self._emit(Finished(request.id, "cancelled", "", "", [], [], Counters()))
            return

        def emit(event: Event) -> None:
            if isinstance(event, Delta):
                for piece in event.pieces:
                    partial[piece.channel].append(piece.text)
            self._emit(event)

        self._emit(self._session.generate(request, emit, job.cancelled.is_set))

    def _count(self, request: Count) -> None:
        if self._session is None or not self._loaded:
            self._emit(Failed(request.id, "usage", "No model is loaded yet.", "Load one first."))
            return
        self._emit(self._session.count(request))

    def _fail(self, job: Job, kind: str, message: str, hint: str, partial: dict[Channel, list[str]]) -> None:
        if isinstance(job.request, Load) and job.cancelled.is_set():
            kind, message, hint = "engine", "The load was stopped.", ""
        request_id = getattr(job.request, "id", "")
        text, thinking = "".join(partial["answer"]), "".join(partial["thinking"])
        self._emit(Failed(request_id, kind, message, hint, text, thinking))
