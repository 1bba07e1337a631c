"""Whole screens as text at the sizes people use, compared with files in `snapshots`.

`EDGE0_UPDATE_SNAPSHOTS=1 pytest tests/edge0_tui/screens/test_pictures.py` writes the files anew; look at what
changed before committing it.
"""

from __future__ import annotations

import asyncio
import dataclasses
import difflib
import os
from datetime import UTC, datetime
from pathlib import Path

from edge0_tui.chat.conversation import Conversation
from edge0_tui.chat.store import TranscriptStore
from edge0_tui.chat.turn import Attribution, Turn
from edge0_tui.options import AppOptions
from engine.protocol import Allocator, Counters, ExpertCounters, Ttft
from tests.edge0_tui.screens.driver import Driver, opened
from tests.edge0_tui.screens.picture import picture

FOLDER = Path(__file__).parent / "snapshots"
SIZES = ((60, 20), (80, 24), (120, 40), (200, 60))
TINY = (30, 8)
ANSWER = """Here is what *differs*, in **short**.

| figure | of the | value |
|:---|---|---:|
| peak | allocator | 1.2 GiB |
| footprint | process | 1.9 GiB |

1. One list
2. with `code` in it

```python
def square(x: int) -> int:
    return x * x
```

> 引用 – a quotation that is long enough to be wrapped on every terminal that is not very wide, twice on small ones.
"""
MEASURED = Counters(
    prompt_tokens=400,
    completion_tokens=65,
    prefill_tok_s=120.0,
    decode_tok_s=41.25,
    decode_tok_s_now=39.0,
    ttft=Ttft(0.42, 0.003, 0.2, 0.217),
    allocator=Allocator(1 << 30, 3 << 29, 1 << 20),
    footprint_bytes=3 << 30,
    kv_bytes=307_200,
    kv_bytes_per_token=20_480,
    context_used=465,
    context_limit=4_096,
    experts=ExpertCounters(2048, 90, 10, 1_010, 1_000, 0),
)


def conversation() -> Conversation:
    """The same every time, down to its figures."""
    day = datetime(2026, 1, 2, tzinfo=UTC)
    question = Turn("user", "How do the allocator's peak and the footprint differ?", created=day)
    measured = Attribution("scripted", "nano", completion_tokens=65, ttft_s=0.42, tok_s=41.25)
    measured = dataclasses.replace(measured, routing="exact", finish_reason="stop")
    answer = Turn("assistant", ANSWER, parent=question.id, attribution=measured, created=day)
    return Conversation(created=day, updated=day).add(question).add(answer)


async def compare(driver: Driver, name: str, sizes: tuple[tuple[int, int], ...]) -> list[str]:
    """Differences from the files, after drawing at each size."""
    problems = []
    for width, height in sizes:
        await driver.pilot.resize_terminal(width, height)
        shown = await settled(driver)
        file = FOLDER / f"{name}-{width}x{height}.txt"
        if os.environ.get("EDGE0_UPDATE_SNAPSHOTS"):
            FOLDER.mkdir(exist_ok=True)
            file.write_text(shown)
        expected = file.read_text() if file.exists() else ""
        rows = difflib.unified_diff(expected.splitlines(), shown.splitlines(), file.name, "on screen", lineterm="")
        problems += list(rows)
    return problems


async def settled(driver: Driver) -> str:
    """The picture once it stands still."""
    before, same = "", 0
    while same < 3:
        await asyncio.sleep(0.12)
        shown = picture(driver.app)
        same = same + 1 if shown == before else 0
        before = shown
    return before


async def test_the_screens_are_drawn_as_they_were(home: Path) -> None:
    TranscriptStore(home / "data" / "transcripts").save(conversation())
    async with opened(home, options=AppOptions(continue_last=True)) as driver:
        await driver.ready()
        await driver.until(lambda: len(driver.answers) == 1)
        driver.engine.on_notice = None  # heartbeats carry the footprint of the scripted worker
        driver.chat.figures.update(MEASURED, 0.0)
        driver.app.chat.changed()
        problems = await compare(driver, "chat", (*SIZES, TINY))
        driver.app.paths = dataclasses.replace(driver.app.paths, settings=Path("/home/me/settings.toml"))
        driver.app.action_settings()
        problems += await compare(driver, "settings", ((80, 24), TINY))
        await driver.pilot.press("escape")
        driver.app.action_tour()
        problems += await compare(driver, "tour", ((60, 20), TINY))
        await driver.pilot.press("escape")
        driver.app.action_keys()
        problems += await compare(driver, "keys", ((60, 20),))
    assert not problems, "\n".join(problems)
