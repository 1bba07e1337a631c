"""The other side of the comparison: Textual's own `Markdown`, used as its documentation says."""

from __future__ import annotations

import asyncio
import time

from textual.app import App, ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Markdown

from edge0_tui.bench.ui_clock import Lag, Streaming, blur_and_focus
from edge0_tui.bench.ui_texts import MESSAGE, STREAMED, TOKENS_A_SECOND, words


class _Stock(App[None]):
    def __init__(self, texts: list[str]) -> None:
        super().__init__()
        self._texts = texts

    def compose(self) -> ComposeResult:
        with VerticalScroll():
            for text in self._texts:
                yield Markdown(text)


async def stream() -> Streaming:
    """One message growing at the pace through `Markdown.get_stream`, the end followed by `anchor`."""
    app = _Stock([""])
    async with app.run_test(headless=False, size=None) as pilot:
        app.query_one(VerticalScroll).anchor()
        markdown = app.query_one(Markdown)
        await pilot.pause()
        growing = Markdown.get_stream(markdown)
        started, at = time.process_time(), time.perf_counter()
        async with Lag() as lag:
            for number, word in enumerate(words(STREAMED), start=1):
                await growing.write(word)
                await asyncio.sleep(max(0.0, at + number / TOKENS_A_SECOND - time.perf_counter()))
            await growing.stop()
            await pilot.pause()
        return Streaming(time.process_time() - started, lag.p99, time.perf_counter() - at)


async def focus(messages: int) -> float:
    """Processor seconds of one blur and focus with so many messages."""
    app = _Stock([MESSAGE] * messages)
    async with app.run_test(headless=False, size=None) as pilot:
        await pilot.pause()
        return await blur_and_focus(app, pilot)
