"""A real application, killed with signal 9 while it writes: at most two seconds of text are lost."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

from edge0_tui.chat.store import TranscriptStore
from edge0_tui.settings import Chat

MOST_LOST_SECONDS = 2.0

STREAMING = """
import asyncio, sys, time
from pathlib import Path
from tests.edge0_tui.screens.driver import LONG, opened

async def main():
    async with opened(Path(sys.argv[1]), {"replies": [LONG]}) as driver:
        await driver.ready()
        await driver.send("Tell me a long story")
        await driver.until(lambda: driver.chat.reply and driver.chat.reply.counters.completion_tokens)
        typed = ""
        while True:
            driver.prompt.insert("x")
            typed += "x"
            print(time.monotonic(), len(driver.chat.reply.so_far().path[-1].text), len(typed), flush=True)
            await asyncio.sleep(0.05)

asyncio.run(main())
"""


def test_killed_while_an_answer_comes_and_a_draft_is_written(home: Path) -> None:
    lasting = random.uniform(2.1, 3.0)
    states: list[tuple[float, int, int]] = []
    command = [sys.executable, "-c", STREAMING, str(home)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        for line in process.stdout:
            moment, answer, draft = line.split()
            states.append((float(moment), int(answer), int(draft)))
            if states[-1][0] - states[0][0] >= lasting:
                break
        process.kill()
        states += [(float(a), int(b), int(c)) for a, b, c in map(str.split, process.stdout.read().splitlines())]

    store = TranscriptStore(home / "data" / "transcripts")
    (summary,) = store.list()
    loaded = store.open(summary.id)
    question, answer_turn = loaded.conversation.path
    end = states[-1][0]
    _, answer_then, draft_then = [state for state in states if state[0] <= end - MOST_LOST_SECONDS][-1]
    assert loaded.note == "" and question.text == "Tell me a long story"
    assert answer_then > 0 and len(answer_turn.text) >= answer_then and not answer_turn.finished
    assert draft_then > 0 and len(loaded.conversation.draft) >= draft_then


def test_the_usual_interval_leaves_time_for_the_writing_itself() -> None:
    assert Chat().autosave_seconds <= MOST_LOST_SECONDS / 2
