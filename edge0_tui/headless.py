"""One reply without a screen: load, generate, print.

The answer streams to standard output as it comes and thinking to standard error; with `as_json` one object is
printed at the end instead. The first ctrl+c stops the reply and keeps what has been printed, the second ends the
engine at once.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from edge0_tui import exit_codes, units
from edge0_tui.console import Console
from edge0_tui.manager.use import Holding
from edge0_tui.report import failure, report
from engine.errors import EngineError, UsageError
from engine.interface import Engine, EngineDied, Notice, Unresponsive, new_id
from engine.protocol import (
    Channel,
    Delta,
    Event,
    Failed,
    Finished,
    Generate,
    Load,
    Loaded,
    Loading,
    Message,
    ModelInfo,
    Prefilling,
)


@dataclass(frozen=True)
class RunRequest:
    """What to load and say. `sampling` holds only what was asked for; the checkpoint decides the rest."""

    load: Load
    messages: list[Message]
    sampling: Mapping[str, Any] = field(default_factory=dict)
    thinking: bool = False
    raw: bool = False
    measure_agreement: bool = False
    as_json: bool = False


Noted = Callable[[ModelInfo, Finished], None]


async def run(
    request: RunRequest, engine: Engine, console: Console, noted: Noted = lambda info, finished: None
) -> int:
    """The exit code. The engine is started and closed here; its errors are reported, not raised.

    `noted` is told of a reply after it was printed.

    Raises `BrokenPipeError` when nobody reads standard output any more.
    """
    reply = _Reply(request, engine, console, noted)
    engine.on_notice = reply.notice
    with _interrupts(reply.interrupt):
        try:
            await engine.start()
            return await reply.run()
        except EngineError as error:
            if isinstance(error, EngineDied) and error.log_tail:
                console.message(error.log_tail)
            return reply.failed(Failed("", error.kind, error.message, error.hint))
        finally:
            await engine.close()


class _Reply:
    """The state of one run."""

    def __init__(self, request: RunRequest, engine: Engine, console: Console, noted: Noted) -> None:
        self._request = request
        self._noted = noted
        self._engine = engine
        self._console = console
        self._holding = Holding()
        self._open = ""
        self._interrupted = False
        self._ending: asyncio.Future[str] | None = None
        self._said: dict[Channel, list[str]] = {"answer": [], "thinking": []}

    async def run(self) -> int:
        self._holding.begin(self._request.load.model)  # until this process ends
        loaded = await self._last(self._engine.load(self._request.load), self._request.load.id)
        if isinstance(loaded, Failed):
            return self.failed(loaded)
        assert isinstance(loaded, Loaded)
        if self._interrupted:
            return exit_codes.STOPPED
        generate = self._generate(loaded.info)
        finished = await self._last(self._engine.generate(generate), generate.id)
        if isinstance(finished, Failed):
            return self.failed(finished)
        assert isinstance(finished, Finished)
        self._print(loaded.info, finished)
        self._noted(loaded.info, finished)
        if finished.finish_reason == "cancelled":
            return exit_codes.STOPPED
        if finished.finish_reason == "error":
            self._console.message("edge0-tui: the model's output stopped being usable; the reply was ended.")
            return exit_codes.ENGINE
        return exit_codes.DONE

    def interrupt(self) -> None:
        """ctrl+c: stop what runs; again: do not wait for it."""
        if self._interrupted:
            self._ending = asyncio.ensure_future(self._engine.close())
        self._interrupted = True
        if self._open:
            self._engine.stop(self._open)

    def notice(self, notice: Notice) -> None:
        if isinstance(notice, Unresponsive):
            self._console.message(f"The engine has not answered for {notice.seconds:.0f} s; ctrl+c ends it.")

    def failed(self, failed: Failed) -> int:
        """Report an error. After ctrl+c it is what the stop brought about, not news."""
        if self._interrupted:
            return exit_codes.STOPPED
        text, thinking = (failed.text or self._text("answer")), (failed.thinking or self._text("thinking"))
        if self._request.as_json:
            self._console.json(failure(replace(failed, text=text, thinking=thinking)))
        elif self._said["answer"]:
            self._console.data("\n")
        self._console.message(f"edge0-tui: {failed.message} {failed.hint}".rstrip())
        return exit_codes.of(failed.kind)

    async def _last(self, events: AsyncGenerator[Event, None], request_id: str) -> Event:
        """Follow a request to its last event."""
        self._open = request_id
        last: Event | None = None
        async with contextlib.aclosing(events):
            async for event in events:
                self._show(event)
                last = event
        self._open = ""
        assert last is not None
        return last

    def _show(self, event: Event) -> None:
        match event:
            case Loading():
                share = f" {event.done * 100 // event.total} %" if event.total else ""
                self._console.progress(f"loading: {event.phase}{share}")
            case Prefilling():
                self._console.progress(f"reading the prompt: {event.done}/{event.total}")
            case Delta():
                for piece in event.pieces:
                    self._said[piece.channel].append(piece.text)
                    if not self._request.as_json:
                        self._write(piece.channel, piece.text)

    def _write(self, channel: Channel, text: str) -> None:
        if channel == "answer":
            if self._said["thinking"] and len(self._said["answer"]) == 1:
                self._console.aside("\n")
            self._console.data(text)
        else:
            self._console.aside(text)

    def _generate(self, info: ModelInfo) -> Generate:
        if self._request.thinking and not info.supports_thinking:
            raise UsageError(f"--thinking has no effect: {info.name} does not think.")
        return Generate(
            new_id(),
            self._request.messages,
            replace(info.sampling, **self._request.sampling),
            thinking=self._request.thinking,
            raw=self._request.raw,
            measure_agreement=self._request.measure_agreement,
        )

    def _print(self, info: ModelInfo, finished: Finished) -> None:
        if self._request.as_json:
            self._console.json(report(info, finished))
            return
        shown = self._text("answer")
        rest = finished.text[len(shown) :] if finished.text.startswith(shown) else ""
        self._console.data(rest + "\n")
        if self._console.err_is_terminal:
            self._console.message(_summary(info, finished))

    def _text(self, channel: Channel) -> str:
        return "".join(self._said[channel])


def _summary(info: ModelInfo, finished: Finished) -> str:
    counters = finished.counters
    return " · ".join(
        (
            info.name,
            finished.finish_reason,
            f"{counters.completion_tokens} tokens",
            units.tokens_per_second(counters.decode_tok_s),
            f"TTFT {units.seconds(counters.ttft.total)}",
            f"allocator peak {units.size(counters.allocator.peak)}",
            f"footprint {units.size(counters.footprint_bytes)}",
        )
    )


@contextlib.contextmanager
def _interrupts(handle: Callable[[], None]) -> Iterator[None]:
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGINT, handle)
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGINT)
