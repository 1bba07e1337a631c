"""Measures the transcript against Textual's own Markdown. Run by hand; prints both sides and the ratio.

python tests/edge0_tui/widgets/measure_transcript.py [stream] [focus] [open]
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable

from textual.app import App, ComposeResult
from textual.containers import VerticalScroll
from textual.pilot import Pilot
from textual.widgets import Markdown

from edge0_tui.chat.turn import Turn
from edge0_tui.widgets.transcript import Transcript
from engine.protocol import Piece

ITEM = "- **item {n}** with `code`, some more words and a [link](https://example.org/{n})\n"
ROW = "| row {n} | a few words in a cell | {n},000 |\n"
CODE = "    if value > {n}:  # a comment\n        return compute(value, {n})\n"
RICH = (
    "## Lists\n\n" + "".join(ITEM.format(n=n) for n in range(24))
    + "\n## A table\n\n| name | text | number |\n|---|---|--:|\n" + "".join(ROW.format(n=n) for n in range(20))
    + "\n## Code\n\n```python\ndef f(value):\n" + "".join(CODE.format(n=n) for n in range(16)) + "```\n\nDone.\n"
)  # fmt: skip
PIECE = 12


class Ours(App[None]):
    def compose(self) -> ComposeResult:
        yield Transcript()


class Stock(App[None]):
    def compose(self) -> ComposeResult:
        with VerticalScroll():
            yield Markdown()


async def fed(pilot: Pilot[None], feed: Callable[[str], Awaitable[object]]) -> tuple[float, float]:
    """Processor seconds in all, and the 99th percentile of one update, while `RICH` arrives in pieces of three
    tokens, each shown before the next: what 40 tok/s at 13 updates a second ask for, whatever else runs here."""
    costs: list[float] = []
    for start in range(0, len(RICH), PIECE):
        before = time.process_time()
        await feed(RICH[start : start + PIECE])
        await pilot.pause()
        costs.append(time.process_time() - before)
    return sum(costs), sorted(costs)[int(len(costs) * 0.99)]


async def stream() -> None:
    ours, stock = Ours(), Stock()
    async with ours.run_test(size=(120, 40)) as pilot:
        transcript = ours.query_one(Transcript)
        transcript.begin_reply("x", "nano")
        await pilot.pause()

        async def add(text: str) -> None:
            transcript.append([Piece("answer", text)])
            transcript.flush()

        mine = await fed(pilot, add)
    async with stock.run_test(size=(120, 40)) as pilot:
        stock.query_one(VerticalScroll).anchor()
        markdown = stock.query_one(Markdown)

        async def append(text: str) -> None:
            await markdown.append(text)

        theirs = await fed(pilot, append)
    print(f"{len(RICH):,} characters in {len(RICH) // PIECE} updates, processor seconds:")
    print(f"  in all             ours {mine[0]:.2f}   stock {theirs[0]:.2f}   ratio {mine[0] / theirs[0]:.3f}")
    print(f"  p99 of one update  ours {mine[1]:.4f} stock {theirs[1]:.4f} ratio {mine[1] / theirs[1]:.3f}")


async def blur_focus(app: App[None], pilot: Pilot[None]) -> float:
    start = time.process_time()
    for focus in (False, True):
        app.app_focus = focus
        await pilot.pause()
    return time.process_time() - start


async def focus(messages: int = 40) -> None:
    ours, stock = Ours(), App[None]()
    async with ours.run_test(size=(120, 40)) as pilot:
        transcript = ours.query_one(Transcript)
        await transcript.load([Turn("assistant", RICH) for _ in range(messages)])
        while transcript.earlier:
            await transcript.fetch_earlier()
        await pilot.pause()
        mine = await blur_focus(ours, pilot)
    async with stock.run_test(size=(120, 40)) as pilot:
        await stock.mount(VerticalScroll(*(Markdown(RICH) for _ in range(messages))))
        await pilot.pause()
        theirs = await blur_focus(stock, pilot)
    print(f"blur + focus, {messages} messages   ours {mine:.4f} s  stock {theirs:.3f} s  ratio {mine / theirs:.4f}")


async def opening() -> None:
    for messages in (30, 500):
        app = Ours()
        async with app.run_test(size=(120, 40)) as pilot:
            turns = [Turn("assistant" if n % 2 else "user", RICH if n % 2 else "Why?") for n in range(messages)]
            start = time.process_time()
            await app.query_one(Transcript).load(turns)
            await pilot.pause()
            print(f"opening {messages} messages: {time.process_time() - start:.3f} s")


if __name__ == "__main__":
    wanted = sys.argv[1:] or ["stream", "focus", "open"]
    for name, run in (("stream", stream), ("focus", focus), ("open", opening)):
        if name in wanted:
            asyncio.run(run())
