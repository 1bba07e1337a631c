"""The application in a real (pseudo-)terminal: with the real engine, and a longer way with a script."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from edge0_tui.bench.terminal import Terminal
from edge0_tui.terminal_title import RESTORE, SAVE

COMMAND = [sys.executable, "-m", "edge0_tui.cli", "-m", "nano"]
LEAVE = b"\x11"
STOP = b"\x1b"
OPENED, RESTORED = b"\x1b[?1049h", b"\x1b[?1049l"


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """A home of its own, so that nothing of the person who runs the tests is used; not for the first time."""
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "tour-seen").touch()
    return {"EDGE0_HOME": str(tmp_path)}


def wait_until(met: Callable[[], bool], terminal: Terminal, seconds: float = 120.0) -> None:
    """Keep the terminal going until `met`."""
    end = time.monotonic() + seconds
    while not met():
        assert time.monotonic() < end, "waited in vain; the screen wrote: " + repr(bytes(terminal.output[-2000:]))
        terminal.drain(0.2)


def transcripts(home: Path) -> list[Path]:
    return list(home.glob("data/transcripts/*.md"))


def ended(home: Path, reason: str) -> bool:
    """Whether some conversation on disk has an answer that ended this way."""
    found = [json.loads(path.read_text()) for path in home.glob("data/transcripts/*.json")]
    return any(f'"finish_reason": "{reason}"' in json.dumps(body) for body in found)


def answered(home: Path) -> bool:
    """Whether some conversation on disk ends in a finished answer."""
    return ended(home, "stop")


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


SCRIPTED = """
import functools, sys
import engine.client
from edge0_tui.cli import main
command = [sys.executable, "-m", "engine.worker", "--scripted", sys.argv[1]]
engine.client.EngineClient = functools.partial(engine.client.EngineClient, command)
sys.exit(main(sys.argv[2:]))
"""


def test_start_ask_stop_leave_and_resume(tmp_path: Path, environment: dict[str, str]) -> None:
    script = tmp_path / "script.json"
    words = " ".join(f"word{number}" for number in range(4000))
    script.write_text(json.dumps({"replies": [{"text": words, "pace": 0.01, "prompt_tokens": 4}]}))
    command = [sys.executable, "-c", SCRIPTED, str(script)]
    with Terminal(command, environment) as terminal:
        terminal.wait_for(OPENED)
        assert terminal.output.index(SAVE.encode()) < terminal.output.index(OPENED)
        wait_until(lambda: b"scripted" in terminal.output, terminal)
        terminal.send(b"Count for me")
        terminal.drain(0.5)
        terminal.send(b"\r")
        wait_until(
            lambda: b"word5" in terminal.output and b"Count for me \xc2\xb7 edge0" in terminal.output, terminal
        )
        terminal.send(STOP)
        wait_until(lambda: ended(tmp_path, "cancelled"), terminal)
        terminal.send(LEAVE)
        assert terminal.wait() == 0
        assert terminal.output.index(RESTORED) < terminal.output.index(RESTORE.encode())
    with Terminal([*command, "--continue"], environment) as terminal:
        wait_until(lambda: b"word5" in terminal.output, terminal)
        terminal.send(LEAVE)
        assert terminal.wait() == 0
    (path,) = transcripts(tmp_path)
    assert "word5" in path.read_text() and "word3999" not in path.read_text()
