"""The application in a real (pseudo-)terminal with the real engine and nano."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from edge0_tui.bench.terminal import Terminal

COMMAND = [sys.executable, "-m", "edge0_tui.cli", "-m", "nano"]
LEAVE = b"\x11"
OPENED, RESTORED = b"\x1b[?1049h", b"\x1b[?1049l"


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """A home of its own, so that nothing of the person who runs the tests is read or written."""
    return {"EDGE0_HOME": str(tmp_path)}


def wait_until(met: Callable[[], bool], terminal: Terminal, seconds: float = 120.0) -> None:
    """Keep the terminal going until `met`."""
    end = time.monotonic() + seconds
    while not met():
        assert time.monotonic() < end, "waited in vain; the screen wrote: " + repr(bytes(terminal.output[-2000:]))
        terminal.drain(0.2)


def transcripts(home: Path) -> list[Path]:
    return list(home.glob("data/transcripts/*.md"))


def answered(home: Path) -> bool:
    """Whether some conversation on disk ends in a finished answer."""
    found = [json.loads(path.read_text()) for path in home.glob("data/transcripts/*.json")]
    return any('"finish_reason": "stop"' in json.dumps(body) for body in found)


def test_a_question_is_answered_saved_and_the_terminal_restored(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    with Terminal(COMMAND, environment) as terminal:
        terminal.wait_for(OPENED)
        wait_until(lambda: b"nano" in terminal.output, terminal)
        terminal.send(b"What is the allocator peak?")
        terminal.drain(0.5)
        terminal.send(b"\r")
        wait_until(lambda: answered(tmp_path), terminal)
        terminal.send(LEAVE)
        assert terminal.wait() == 0
        assert RESTORED in terminal.output
    (path,) = transcripts(tmp_path)
    text = path.read_text()
    assert "What is the allocator peak?" in text and "## nano" in text


def test_a_terminal_that_goes_away_takes_the_application_and_its_engine_along(environment: dict[str, str]) -> None:
    with Terminal(COMMAND, environment) as terminal:
        terminal.wait_for(OPENED)
        wait_until(lambda: bool(psutil.Process(terminal.pid).children()), terminal)
        engines = psutil.Process(terminal.pid).children(recursive=True)
        terminal.hang_up()
        terminal.wait()
    _, alive = psutil.wait_procs(engines, timeout=10)
    assert not alive
