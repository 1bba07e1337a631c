"""The chat as lines, with the real controller, the real client and a scripted worker."""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from edge0_tui import settings_file
from edge0_tui.chat.store import TranscriptStore
from edge0_tui.cli import main
from edge0_tui.options import AppOptions
from edge0_tui.paths import find_paths
from edge0_tui.plain.commands import COMMANDS, MENTIONS, NAMES, find
from edge0_tui.plain.lines import lines
from edge0_tui.plain.printer import Printer
from edge0_tui.plain.session import PlainSession
from engine.client import EngineClient

SHORT = {"text": "One two three.", "prompt_tokens": 4}
LONG = {"text": " ".join(f"word{number}" for number in range(4000)), "pace": 0.01, "prompt_tokens": 4}


class Person:
    """Somebody at a keyboard that a pipe stands in for."""

    def __init__(self, session: PlainSession, out: io.StringIO, descriptor: int) -> None:
        self.session, self._out, self._descriptor = session, out, descriptor

    @property
    def text(self) -> str:
        return self._out.getvalue()

    def enter(self, line: str) -> None:
        os.write(self._descriptor, line.encode() + b"\n")

    async def until(self, condition: Callable[[], object]) -> None:
        end = time.monotonic() + 30
        while not condition():
            assert time.monotonic() < end, f"waited in vain; it said: {self.text[-2000:]!r}"
            await asyncio.sleep(0.01)

    async def reads(self, expected: str, times: int = 1) -> None:
        await self.until(lambda: self.text.count(expected) >= times)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("EDGE0_HOME", str(tmp_path))
    return tmp_path


@contextlib.asynccontextmanager
async def opened(home: Path, *replies: dict[str, Any], options: AppOptions | None = None) -> AsyncIterator[Person]:
    """A session that has ended, with code 0, when this is left."""
    script = home / "script.json"
    script.write_text(json.dumps({"replies": list(replies)}))
    paths = find_paths()
    engine = EngineClient(
        [sys.executable, "-m", "engine.worker", "--scripted", str(script)], log_path=paths.engine_log
    )
    out, (reading, writing) = io.StringIO(), os.pipe()
    session = PlainSession(options or AppOptions(), paths, settings_file.read(paths.settings), engine, Printer(out))
    running = asyncio.create_task(session.run(reading))
    try:
        yield Person(session, out, writing)
        os.close(writing)
        assert await asyncio.wait_for(running, 30) == 0
    finally:
        running.cancel()
        os.close(reading)


async def test_a_chat_as_lines_is_saved_listed_and_opened_again(home: Path) -> None:
    async with opened(home, SHORT, SHORT) as person:
        await person.reads("> ")
        person.enter("First line \\")
        person.enter("//second line")
        await person.reads("scripted:\nOne two three.\n[")
        await person.reads("first token after")
        person.enter("/figures")
        await person.reads("tokens: 7 / 4,096")
        person.enter("/new")
        await person.reads("A new chat.")
        person.enter("/chats")
        await person.reads("1. First line")
        person.enter("/open 1")
        await person.reads("2 messages. It ends with:\nYou: First line \n//second line\nscripted: One two three.")
        person.enter("/fly")
        await person.reads("There is no /fly; /help lists the commands.")
        person.enter("/")
        person.enter("/h")
        await person.reads("/open [NUMBER]")
        assert "\x1b" not in person.text and "\r" not in person.text
    (summary,) = TranscriptStore(home / "data" / "transcripts").list()
    conversation = TranscriptStore(home / "data" / "transcripts").load(summary.id)
    assert [turn.text for turn in conversation.path] == ["First line \n//second line", "One two three."]


async def test_a_reply_is_stopped_by_command_and_by_ctrl_c_and_its_text_kept(home: Path) -> None:
    async with opened(home, LONG, LONG) as person:
        await person.reads("> ")
        person.enter("Go on")
        await person.reads("word3 ")
        person.enter("waits")
        await person.reads("[it is sent as soon as the engine is free")
        person.enter("/stop")
        await person.reads("[stopped ·")
        await person.until(lambda: person.text.count("word3 ") == 2)
        os.kill(os.getpid(), signal.SIGINT)
        await person.reads("[stopped ·", 2)
        await person.until(lambda: person.session.controller.reply is None)
        os.kill(os.getpid(), signal.SIGINT)
        await person.reads("ctrl+c again leaves.")
        os.kill(os.getpid(), signal.SIGINT)
        await person.until(lambda: person.session._over.done())
    (chat,) = TranscriptStore(home / "data" / "transcripts").list()
    answers = TranscriptStore(home / "data" / "transcripts").load(chat.id).path[1::2]
    assert len(answers) == 2
    assert all(turn.text.startswith("word0 word1") and turn.attribution for turn in answers)


async def test_hints_name_commands_and_what_is_not_sent_can_be_sent_later(home: Path) -> None:
    async with opened(home, SHORT) as person:
        await person.reads("> ")
        link = person.session.link
        link._tell(
            "The engine does not start.", "{key:restart_engine} tries again, {key:log} shows its log.", "error"
        )
        await person.reads("Error: The engine does not start. /restart tries again, /log shows its log.")
        person.session.view.give_back("kept")
        await person.reads("Not sent: kept\n/draft sends it.")
        person.enter("/draft")
        await person.reads("One two three.")
        person.enter("/draft")
        await person.reads("There is nothing written that was not sent.")
        person.enter("/open 7")
        person.enter("/model none-such")
        await person.reads("none-such: there is no such directory")


async def test_the_last_chat_goes_on_where_it_was_left(home: Path) -> None:
    async with opened(home, SHORT) as person:
        await person.reads("> ")
        person.enter("Remember me")
        await person.reads("tok/s")
    async with opened(home, SHORT, options=AppOptions(continue_last=True)) as person:
        await person.reads("You: Remember me")
        await person.reads("> ")
        person.enter("And now?")
        await person.until(lambda: len(person.session.controller.conversation.path) == 4)


async def test_bytes_become_lines_wherever_they_are_cut() -> None:
    reading, writing = os.pipe()
    found = asyncio.create_task(_all(reading))
    for piece in ("grü".encode()[:3], "grü".encode()[3:] + b"\\\nand", b" more\n\n", b"\xff last"):
        os.write(writing, piece)
        await asyncio.sleep(0.01)
    os.close(writing)
    assert await asyncio.wait_for(found, 10) == ["grü\nand more", "", "\ufffd last"]
    os.close(reading)


async def _all(descriptor: int) -> list[str]:
    return [line async for line in lines(descriptor)]


def test_every_command_explains_itself_and_every_hint_names_one() -> None:
    assert all(command.help for command in COMMANDS) and len(set(NAMES)) == len(NAMES)
    assert {word.removeprefix("/") for word in MENTIONS.values() if word.startswith("/")} <= set(NAMES)
    assert find("qu") == ["quit"] and find("re") == ["restart"] and find("") == [] and len(find("o")) == 1


def test_nothing_moves_the_cursor_and_prompts_are_not_repeated() -> None:
    out = io.StringIO()
    printer = Printer(out)
    printer.prompt()
    printer.prompt()
    printer.line("said\x1b[2J\x9b")
    printer.piece("part")
    printer.piece(" by part")
    printer.prompt()
    printer.entered()
    printer.line("next")
    assert out.getvalue() == "> \nsaid[2J\npart by part\n> next\n"


def test_without_a_terminal_it_names_run(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("hello"))
    for arguments in (["--plain"], []):
        with pytest.raises(SystemExit) as left:
            main(arguments)
        assert left.value.code == 2
        assert "edge0-tui run -p TEXT" in capsys.readouterr().err


def test_plain_mode_imports_no_textual() -> None:
    program = "import sys, edge0_tui.plain.session, engine.client; print(*sys.modules)"
    modules = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout.split()
    assert "edge0_tui.plain.session" in modules and not {"textual", "rich", "mlx"} & set(modules)
