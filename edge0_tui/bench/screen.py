"""Tokens per second of nano with the screen open, against the same engine and conversation without one."""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from pathlib import Path

from edge0_tui.bench.terminal import ALTERNATE_SCREEN, Terminal
from edge0_tui.chat import sidecar
from edge0_tui.chat.turn import Turn
from edge0_tui.first_run import remember
from edge0_tui.paths import Paths
from engine.client import EngineClient
from engine.interface import new_id
from engine.protocol import Finished, Generate, Load, Message, Sampling

QUESTIONS = (
    "What is the allocator peak?",
    "What is an expert?",
    "How do I stop a reply?",
    "What is the KV cache?",
    "Where are my transcripts?",
    "What is the prerouter?",
)
RUNS = 3
Rate = tuple[int, float]
"""Tokens of a reply, and the tok/s they came at."""
PATIENCE = 120.0
SETTLE = 3.0
"""Seconds from the first picture until keys reach the prompt for certain."""


def measure(runs: int = RUNS) -> tuple[float, float]:
    """Decode rates in tok/s over all replies (with the screen, headless).

    Both engines stand ready all the time and answer question by question in turn, each first every other time: on a
    machine that others use as well, what changes from minute to minute then meets both sides.
    """
    with_screen, headless = [], []
    for _ in range(runs):
        ours, theirs = asyncio.run(_round())
        with_screen += ours
        headless += theirs
    return _rate(with_screen), _rate(headless)


def _rate(replies: list[Rate]) -> float:
    """Steps over their time."""
    steps = sum(tokens - 1 for tokens, _ in replies)
    return steps / sum((tokens - 1) / rate for tokens, rate in replies if rate)


async def _round() -> tuple[list[Rate], list[Rate]]:
    """One conversation on each side."""
    client = EngineClient()
    messages: list[Message] = []
    headless: list[Rate] = []
    await client.start()
    try:
        async for _ in client.load(Load(new_id(), "nano")):
            pass
        with tempfile.TemporaryDirectory(prefix="edge0-bench-") as home:
            data = Path(home) / "data"
            remember(Paths(data, Path(home) / "config" / "settings.toml", Path(home) / "logs", data))
            command = [sys.executable, "-P", "-m", "edge0_tui.cli", "-m", "nano"]
            with Terminal(command, {"EDGE0_HOME": home}) as terminal:
                await asyncio.to_thread(_begin, terminal)
                for number, question in enumerate(QUESTIONS, start=1):
                    if number % 2:
                        await asyncio.to_thread(_ask, terminal, Path(home), question, number)
                    headless.append(await _answer(client, messages, question))
                    if not number % 2:
                        await asyncio.to_thread(_ask, terminal, Path(home), question, number)
            answers = _answers(Path(home))
    finally:
        await client.close()
    found = [turn.attribution for turn in answers if turn.attribution]
    return [(attribution.completion_tokens, attribution.tok_s) for attribution in found], headless


def _begin(terminal: Terminal) -> None:
    terminal.wait_for(ALTERNATE_SCREEN)
    terminal.drain(SETTLE)


def _ask(terminal: Terminal, home: Path, question: str, number: int) -> None:
    """Type it and wait for the answer to be written down."""
    terminal.send(question.encode())
    terminal.drain(0.3)
    terminal.send(b"\r")  # apart from the text, as a person types it: together they are a paste
    _wait_for_answers(terminal, home, number)
    terminal.drain(0.3)


def _wait_for_answers(terminal: Terminal, home: Path, count: int) -> None:
    end = time.monotonic() + PATIENCE
    while len(_answers(home)) < count:
        if time.monotonic() > end:
            raise TimeoutError(f"answer {count} was not finished in {PATIENCE:.0f} s")
        terminal.drain(0.3)


def _answers(home: Path) -> list[Turn]:
    """Finished answers of the one conversation on disk."""
    for path in home.glob("data/transcripts/*.json"):
        turns = sidecar.read(path.read_bytes()).conversation.path
        return [turn for turn in turns if turn.role == "assistant" and turn.finished]
    return []


async def _answer(client: EngineClient, messages: list[Message], question: str) -> Rate:
    """One more turn without a screen, added to `messages`."""
    messages.append(Message("user", question))
    async for event in client.generate(Generate(new_id(), messages, Sampling(temperature=0))):
        if isinstance(event, Finished):
            messages.append(Message("assistant", event.text))
            return event.counters.completion_tokens, event.counters.decode_tok_s
    raise RuntimeError("the engine gave no answer")
