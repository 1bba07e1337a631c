"""From a key pressed in the search field of 1,000 saved chats to its first result on the terminal."""

from __future__ import annotations

import random
import statistics
import sys
import tempfile
import time
from datetime import timedelta
from pathlib import Path

from edge0_tui.bench.terminal import ALTERNATE_SCREEN, Terminal
from edge0_tui.chat.conversation import Conversation
from edge0_tui.chat.store import TranscriptStore
from edge0_tui.chat.turn import Turn, now

CHATS = 1000
TURNS = 10
WORDS = 200
NEXT_KEY = 0.2
"""Seconds between two keys of somebody who types five a second."""
LETTERS = "ЖЩЭЮЫДФ"
"""Each is in one chat only, followed by a text that the list shows when it has been found."""
_COMMON = ("the", "expert", "slot", "token", "router", "memory", "budget", "größe", "über", "naïve", "answer")
_OPEN, _BACKSPACE = b"\x02", b"\x7f"
_PATIENCE = 60.0


def measure() -> tuple[float, float]:
    """Seconds from a key to its first result: the median and the longest of some."""
    with tempfile.TemporaryDirectory(prefix="edge0-bench-") as home:
        fill(Path(home) / "data" / "transcripts", CHATS)
        with Terminal([sys.executable, "-m", "edge0_tui.cli"], {"EDGE0_HOME": home}) as terminal:
            terminal.wait_for(ALTERNATE_SCREEN)
            terminal.drain(3.0)
            terminal.send(_OPEN)
            _wait(terminal, f"{CHATS:,}".encode())
            _search(terminal, LETTERS[0])  # reads all texts for the first time
            times = [_search(terminal, letter) for letter in LETTERS[1:]]
    return statistics.median(times), max(times)


def fill(directory: Path, count: int) -> None:
    """Chats of some 12,000 characters, each letter's one in the middle of its part of the list."""
    chance, store = random.Random(0), TranscriptStore(directory)
    for number in range(count):
        moment = now() - timedelta(hours=count - number)
        chat, parent = Conversation(created=moment, updated=moment), None
        for turn in range(TURNS):
            text = " ".join(chance.choices(_COMMON, k=WORDS))
            letter, rest = divmod(number * len(LETTERS), count)
            if turn == TURNS // 2 and rest < len(LETTERS):
                text += f"\n{LETTERS[letter]}{_mark(LETTERS[letter])}"
            said = Turn("assistant" if turn % 2 else "user", text, parent=parent, created=moment)
            chat, parent = chat.add(said), said.id
        store.save(chat)


def _search(terminal: Terminal, letter: str) -> float:
    terminal.drain(1.0)
    begin = time.perf_counter()
    terminal.send(letter.encode())
    _wait(terminal, _mark(letter).encode())
    seconds = time.perf_counter() - begin
    terminal.send(_BACKSPACE)
    return seconds


def _wait(terminal: Terminal, shown: bytes) -> None:
    end = time.perf_counter() + _PATIENCE
    while shown not in terminal.output:
        if time.perf_counter() > end:
            raise TimeoutError(f"{shown.decode()!r} did not appear")
        terminal.drain(0.005)


def _mark(letter: str) -> str:
    return f"-found-{ord(letter)}"
