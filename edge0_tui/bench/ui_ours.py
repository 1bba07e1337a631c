"""Our side: the whole application with a scripted engine in its own process. `EDGE0_HOME` names its home."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import statistics
import sys
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

from textual import events
from textual.pilot import Pilot

from edge0_tui import settings_file
from edge0_tui.app import Edge0App
from edge0_tui.bench.ui_clock import Lag, Streaming, blur_and_focus
from edge0_tui.bench.ui_texts import MESSAGE, STREAMED, TOKENS_A_SECOND
from edge0_tui.chat.conversation import Conversation
from edge0_tui.chat.store import TranscriptStore
from edge0_tui.chat.turn import Turn
from edge0_tui.first_run import remember
from edge0_tui.options import AppOptions
from edge0_tui.paths import find_paths
from edge0_tui.widgets.prompt import Prompt
from edge0_tui.widgets.transcript import Transcript
from engine.client import EngineClient

PATIENCE = 180.0
SETTLE = 2.0
"""Seconds a person needs for a first question; what the application prepares meanwhile is over then."""
KEYS = 60
OPENINGS = 5


@contextlib.asynccontextmanager
async def _opened() -> AsyncIterator[tuple[Edge0App, Pilot[int]]]:
    gc.disable()  # as `edge0_tui.cli` does; the application turns it on again
    paths = find_paths()
    remember(paths)  # the introduction would stand before the chat
    script = paths.logs / "script.json"
    script.parent.mkdir(parents=True, exist_ok=True)
    script.write_text(json.dumps({"replies": [{"text": STREAMED, "pace": 1 / TOKENS_A_SECOND}]}))
    engine = EngineClient([sys.executable, "-P", "-m", "engine.worker", "--scripted", str(script)])
    app = Edge0App(AppOptions(), paths, settings_file.Reading(), engine)
    try:
        async with app.run_test(headless=False, size=None) as pilot:
            await _until(pilot, lambda: app.controller.link.phase == "ready")
            yield app, pilot
            await app.controller.close()
    finally:
        await engine.close()


async def _until(pilot: Pilot[Any], holds: Callable[[], object]) -> None:
    end = time.monotonic() + PATIENCE
    while not holds():
        if time.monotonic() > end:
            raise TimeoutError("the application did not get there")
        await pilot.pause(0.01)


async def stream() -> Streaming:
    """One answer at the pace, from the question to its figures."""
    async with _opened() as (app, pilot):
        await pilot.pause(SETTLE)
        started, at = time.process_time(), time.perf_counter()
        over = asyncio.Event()
        finish = app.chat.show_finish

        def finished(attribution: Any) -> None:
            finish(attribution)
            over.set()

        app.chat.show_finish = finished  # type: ignore[method-assign]
        async with Lag() as lag:
            app.controller.send("Go on.")
            await asyncio.wait_for(over.wait(), PATIENCE)
            await pilot.pause()
        return Streaming(time.process_time() - started, lag.p99, time.perf_counter() - at)


async def focus(messages: int) -> float:
    """Processor seconds of one blur and focus with so many messages, all of them mounted."""
    async with _opened() as (app, pilot):
        await app.controller.open(_chat(messages))
        transcript = app.chat.query_one(Transcript)
        while transcript.earlier:
            await transcript.fetch_earlier()
        await pilot.pause()
        return await blur_and_focus(app, pilot)


async def opening(few: int, many: int) -> tuple[float, float]:
    """Median processor seconds of opening a saved chat of `few` and of `many` messages, taken in turn."""
    async with _opened() as (app, pilot):
        chats = _chat(few), _chat(many)
        store = TranscriptStore(app.paths.transcripts)
        for chat in chats:
            store.save(chat)
        costs: tuple[list[float], list[float]] = ([], [])
        for _ in range(OPENINGS + 1):
            for chat, cost in zip(chats, costs, strict=True):
                start = time.process_time()
                await app.chat._open_chat(chat.id)
                await pilot.pause()
                cost.append(time.process_time() - start)
        return statistics.median(costs[0][1:]), statistics.median(costs[1][1:])


async def echo(few: int, many: int) -> tuple[float, float]:
    """Median seconds from a key to what it draws, with `few` and with `many` messages, taken in turn."""
    async with _opened() as (app, pilot):
        chats = (Conversation() if not few else _chat(few)), _chat(many)
        costs: tuple[list[float], list[float]] = ([], [])
        for _ in range(3):
            for chat, cost in zip(chats, costs, strict=True):
                await app.controller.open(chat)
                await pilot.pause(0.2)
                cost += [await _key(app, pilot) for _ in range(KEYS // 3)]
                app.chat.query_one(Prompt).load_text("")
        return statistics.median(costs[0]), statistics.median(costs[1])


async def _key(app: Edge0App, pilot: Pilot[int]) -> float:
    """Seconds until the first output after a key."""
    driver, drawn = app._driver, asyncio.Event()
    assert driver is not None
    write = driver.write

    def noted(data: str) -> None:
        drawn.set()
        write(data)

    driver.write = noted  # type: ignore[method-assign]
    start = time.perf_counter()
    app.post_message(events.Key("x", "x"))
    await asyncio.wait_for(drawn.wait(), PATIENCE)
    seconds = time.perf_counter() - start
    driver.write = write  # type: ignore[method-assign]
    await pilot.pause()
    return seconds


def _chat(messages: int) -> Conversation:
    chat, parent = Conversation(), None
    for number in range(messages):
        turn = Turn("assistant" if number % 2 else "user", MESSAGE if number % 2 else "Why?", parent=parent)
        chat, parent = chat.add(turn), turn.id
    return chat
