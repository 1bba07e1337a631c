"""A recorded session played through the client's interface, without a process or a model."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from dataclasses import replace
from pathlib import Path

from engine.errors import UsageError
from engine.interface import Notice, Unresponsive, new_id
from engine.process.recording import Entry, read_recording
from engine.protocol import (
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
    Piece,
    Prefilling,
    Ready,
)

Answering = Loading | Loaded | Prefilling | Delta | Finished | Failed
Answer = list[tuple[float, Answering]]
"""The events of one request, each with the seconds since it was sent."""


class ReplayClient:
    """Answers the n-th load and the n-th reply as they were answered when recorded, whatever is asked.

    `speed` 1.0 keeps the recorded times, 2.0 halves them, 0.0 does not wait at all. Once the recording is used
    up, the last answer of that kind is repeated. Implements `engine.interface.Engine`.
    """

    def __init__(self, path: Path, *, speed: float = 0.0) -> None:
        entries = read_recording(path)
        self.on_notice: Callable[[Notice], None] | None = None
        self._speed = speed
        self._loads = _answers(entries, Load)
        self._replies = _answers(entries, Generate)
        readies = [entry.message for entry in entries if isinstance(entry.message, Ready)]
        self._recorded_ready = readies[0] if readies else Ready(0, "", "recording", "")
        self._ready: Ready | None = None
        self._last_load: Load | None = None
        self._stopped: set[str] = set()

    @property
    def alive(self) -> bool:
        return self._ready is not None

    @property
    def ready(self) -> Ready | None:
        return self._ready

    @property
    def unresponsive(self) -> Unresponsive | None:
        return None

    @property
    def last_load(self) -> Load | None:
        return self._last_load

    async def start(self) -> Ready:
        self._ready = self._recorded_ready
        return self._ready

    async def load(self, request: Load) -> AsyncGenerator[Event, None]:
        async for event in self._play(_next(self._loads, "load"), request.id):
            if isinstance(event, Loaded):
                self._last_load = request
            yield event

    async def reload(self) -> AsyncGenerator[Event, None]:
        if self._last_load is None:
            raise UsageError("Nothing has been loaded yet.")
        async for event in self.load(replace(self._last_load, id=new_id())):
            yield event

    async def generate(self, request: Generate) -> AsyncGenerator[Event, None]:
        async for event in self._play(_next(self._replies, "reply"), request.id):
            yield event

    async def count(self, request: Count) -> Counted | Failed:
        """Refused: a recording has no tokenizer."""
        return Failed(request.id, "usage", "A recording cannot count tokens.")

    def stop(self, request_id: str) -> None:
        self._stopped.add(request_id)

    def reset(self) -> None:
        """A recording has no state to forget."""

    async def restart(self) -> Ready:
        return await self.start()

    async def close(self) -> str:
        self._ready = None
        return ""

    async def _play(self, answer: Answer, request_id: str) -> AsyncGenerator[Event, None]:
        pieces: list[Piece] = []
        counters, before = Counters(), 0.0
        for at, event in answer:
            await asyncio.sleep((at - before) / self._speed if self._speed else 0)
            before = at
            if request_id in self._stopped:
                yield _cut_short(request_id, answer, pieces, counters)
                return
            if isinstance(event, Delta):
                pieces.extend(event.pieces)
                counters = event.counters
            yield replace(event, id=request_id)


def _cut_short(request_id: str, answer: Answer, pieces: list[Piece], counters: Counters) -> Event:
    if isinstance(answer[-1][1], Loaded):
        return Failed(request_id, "engine", "The load was stopped.")
    text, thinking = (
        "".join(piece.text for piece in pieces if piece.channel == channel) for channel in ("answer", "thinking")
    )
    return Finished(request_id, "cancelled", text, thinking, [], [], counters)


def _answers(entries: list[Entry], kind: type[Load] | type[Generate]) -> list[Answer]:
    """One answer per request of this kind, in the order of the requests; unanswered ones are left out."""
    sent = {entry.message.id: entry.at for entry in entries if isinstance(entry.message, kind)}
    answers: dict[str, Answer] = {request_id: [] for request_id in sent}
    for entry in entries:
        event = entry.message
        if isinstance(event, Answering) and event.id in answers:
            answers[event.id].append((entry.at - sent[event.id], event))
    return [answer for answer in answers.values() if answer]


def _next(answers: list[Answer], what: str) -> Answer:
    if not answers:
        raise UsageError(f"The recording holds no {what}.")
    return answers.pop(0) if len(answers) > 1 else answers[0]
