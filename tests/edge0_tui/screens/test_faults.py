"""What a person sees when the engine or the disk fails."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from tests.edge0_tui.screens.driver import LONG, SHORT, opened

CRASH = {**LONG, "match": "crash", "crash_after": 5}
FREEZE = {**LONG, "match": "freeze", "freeze_after": 5}


def gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


async def test_a_death_in_a_reply_keeps_the_text_restarts_and_the_next_reply_works(home: Path) -> None:
    async with opened(home, {"replies": [CRASH, SHORT]}) as driver:
        await driver.ready()
        first = driver.engine.pid
        partial = await driver.ask("crash, please")
        assert partial.startswith("word0")
        await driver.until(lambda: "exit code 70" in driver.banner)
        await driver.ready()
        await driver.until(lambda: "was restarted" in driver.banner)
        assert driver.chat.figures.values()["tokens"] == "– / 4,096"
        assert driver.engine.pid != first
        assert await driver.ask("Are you back?") == "One two three."
        assert driver.answers[0] == partial
        last = driver.chat.conversation.path[1].attribution
        assert last and last.finish_reason == "error"


async def test_after_a_second_death_within_a_minute_a_person_decides(home: Path) -> None:
    async with opened(home, {"replies": [CRASH, SHORT]}) as driver:
        await driver.ready()
        await driver.ask("crash")
        await driver.ready()
        await driver.send("crash again")
        await driver.until(lambda: driver.chat.link.phase == "down")
        assert "f5" in driver.banner
        await driver.pilot.press("f5")
        await driver.ready()
        assert await driver.ask("Hello?") == "One two three."


async def test_a_killed_idle_engine_comes_back_by_itself(home: Path) -> None:
    async with opened(home) as driver:
        await driver.ready()
        assert driver.engine.pid
        os.kill(driver.engine.pid, signal.SIGKILL)
        await driver.until(lambda: "SIGKILL" in driver.banner)
        await driver.ready()
        assert await driver.ask("Hello?") == "One two three."


async def test_an_engine_that_is_silent_can_be_restarted(home: Path) -> None:
    async with opened(home, {"replies": [FREEZE, SHORT]}, patience=0.4) as driver:
        await driver.ready()
        await driver.send("freeze")
        await driver.until(lambda: "silent" in driver.banner and "f5" in driver.banner)
        await driver.pilot.press("f5")
        await driver.until(lambda: driver.chat.reply is None)
        assert driver.answers[0].startswith("word0")
        await driver.ready()
        assert await driver.ask("Hello?") == "One two three."


async def test_a_failed_reply_shows_message_and_hint_and_keeps_the_text(home: Path) -> None:
    fail = {**LONG, "fail_after": 3, "fail_message": "The arena [red]is full.", "fail_hint": "Ask again."}
    async with opened(home, {"replies": [fail, SHORT]}) as driver:
        await driver.ready()
        assert (await driver.ask("Go")).startswith("word0 word1 word2")
        assert driver.banner == "The arena [red]is full. Ask again."
        assert await driver.ask("Again") == "One two three."


async def test_a_refused_load_says_why_and_leaves_the_prompt_usable(home: Path) -> None:
    script = {"load_fail_kind": "plan", "load_fail_message": "Too small.", "load_fail_hint": "Give it 3GiB."}
    async with opened(home, script) as driver:
        await driver.until(lambda: driver.chat.link.phase == "empty")
        assert "Too small." in driver.banner and "Give it 3GiB." in driver.banner
        await driver.send("Hello?")
        assert driver.chat.pending == "Hello?"


async def test_an_unwritable_directory_is_said_once_and_the_chat_goes_on(home: Path) -> None:
    (home / "data").mkdir()
    (home / "data" / "transcripts").write_text("a file where the directory should be")
    async with opened(home) as driver:
        await driver.ready()
        await driver.ask("First")
        await driver.until(lambda: "cannot be saved" in driver.banner)
        await driver.pilot.press("escape")
        assert driver.banner == ""
        assert await driver.ask("Second") == "One two three."
        assert driver.banner == ""


async def test_leaving_during_a_reply_ends_the_engine_and_saves(home: Path) -> None:
    async with opened(home, {"replies": [LONG]}) as driver:
        await driver.ready()
        pid = driver.engine.pid
        assert pid
        await driver.send("Count.")
        await driver.until(lambda: driver.chat.reply and driver.chat.reply.counters.completion_tokens > 3)
        await driver.pilot.press("ctrl+q")
        await driver.until(lambda: not driver.app.is_running)
        assert gone(pid)
    (saved,) = (home / "data" / "transcripts").glob("*.md")
    assert "word0 word1" in saved.read_text()


async def test_two_instances_keep_their_chats_apart(home: Path) -> None:
    async with opened(home) as one, opened(home) as two:
        await one.ready()
        await two.ready()
        await one.ask("From the first")
        await two.ask("From the second")
        assert await one.ask("First again") == "One two three."
    texts = [path.read_text() for path in (home / "data" / "transcripts").glob("*.md")]
    assert len(texts) == 2
    assert sum("From the first" in text and "First again" in text for text in texts) == 1
