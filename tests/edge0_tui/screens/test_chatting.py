"""Sending, streaming, stopping, waiting, new chats and going on with old ones."""

from __future__ import annotations

from pathlib import Path

from edge0_tui.options import AppOptions
from edge0_tui.widgets.activity_line import ActivityLine
from edge0_tui.widgets.empty_state import EmptyState
from edge0_tui.widgets.header import HeaderLine
from tests.edge0_tui.screens.driver import LONG, SHORT, opened


def transcripts(home: Path) -> list[str]:
    return [path.read_text() for path in sorted((home / "data" / "transcripts").glob("*.md"))]


async def test_an_answer_is_streamed_shown_and_saved(home: Path) -> None:
    async with opened(home) as driver:
        await driver.ready()
        assert await driver.ask("What is a slot?") == "One two three."
        await driver.until(lambda: len(driver.transcript.messages) == 2)
        last = driver.chat.conversation.last
        assert last and last.attribution and last.attribution.finish_reason == "stop"
        assert last.attribution.completion_tokens == 3
        await driver.until(lambda: driver.app.chat.query_one(HeaderLine).state.info)
        assert driver.chat.figures.values()["tokens"] == "7 / 4,096"
    assert len(transcripts(home)) == 1
    assert "What is a slot?" in transcripts(home)[0] and "One two three." in transcripts(home)[0]


async def test_a_message_sent_before_the_model_is_loaded_waits_and_is_answered(home: Path) -> None:
    async with opened(home, {"load_seconds": 0.5, "replies": [SHORT]}) as driver:
        await driver.send("Are you there?")
        assert driver.chat.pending == "Are you there?"
        line = driver.app.chat.query_one(ActivityLine)
        await driver.until(lambda: line.activity.text == "Are you there?")
        await driver.until(lambda: driver.answers == ["One two three."])
        assert driver.chat.pending == ""
        await driver.until(lambda: not line.activity.words)


async def test_only_one_message_waits_and_a_second_goes_back_to_the_prompt(home: Path) -> None:
    async with opened(home, {"load_seconds": 30, "replies": [SHORT]}) as driver:
        await driver.send("first")
        await driver.send("second")
        assert (driver.chat.pending, driver.prompt.text) == ("first", "second")
        assert "already waiting" in driver.banner
        await driver.pilot.press("escape")
        assert (driver.chat.pending, driver.prompt.text) == ("", "first\nsecond")


async def test_stop_keeps_the_text_and_the_next_message_is_answered(home: Path) -> None:
    async with opened(home, {"replies": [LONG, SHORT]}) as driver:
        await driver.ready()
        await driver.send("Count.")
        await driver.until(lambda: driver.chat.reply and driver.chat.reply.counters.completion_tokens > 3)
        await driver.pilot.press("escape")
        await driver.until(lambda: driver.chat.reply is None)
        last = driver.chat.conversation.last
        assert last and last.attribution and last.attribution.finish_reason == "cancelled"
        assert last.text.startswith("word0 word1 word2")
        assert await driver.ask("And now?") == "One two three."
    assert "word0 word1 word2" in transcripts(home)[0]


async def test_a_new_chat_begins_empty_and_the_old_one_stays(home: Path) -> None:
    async with opened(home) as driver:
        await driver.ready()
        await driver.ask("About slots")
        await driver.pilot.press("ctrl+n")
        await driver.until(lambda: not driver.chat.conversation.turns)
        assert not driver.transcript.messages and not driver.transcript.display
        await driver.ask("About experts")
    assert len(transcripts(home)) == 2


async def test_leaving_a_reply_for_a_new_chat_keeps_it_where_it_belongs(home: Path) -> None:
    async with opened(home, {"replies": [LONG, SHORT]}) as driver:
        await driver.ready()
        await driver.send("A long story")
        await driver.until(lambda: driver.chat.reply and driver.chat.reply.counters.completion_tokens > 3)
        await driver.pilot.press("ctrl+n")
        await driver.until(lambda: not driver.chat.conversation.turns)
        assert await driver.ask("Short, please") == "One two three."
        assert "word0" not in "".join(driver.answers)
    assert sum("word0 word1" in text for text in transcripts(home)) == 1


async def test_the_next_start_offers_the_last_conversation_and_enter_goes_on(home: Path) -> None:
    async with opened(home) as driver:
        await driver.ready()
        await driver.ask("Remember this question")
    async with opened(home) as driver:
        empty = driver.app.chat.query_one(EmptyState)
        await driver.until(lambda: empty.welcome.resume == "Remember this question")
        assert empty.display and not driver.chat.conversation.turns
        await driver.pilot.press("enter")
        await driver.until(lambda: driver.answers == ["One two three."])
        await driver.until(lambda: len(driver.transcript.messages) == 2)
        await driver.ready()
        await driver.ask("One more")
        assert len(driver.chat.conversation.path) == 4
    assert len(transcripts(home)) == 1


async def test_continue_opens_the_last_conversation_at_once(home: Path) -> None:
    async with opened(home) as driver:
        await driver.ready()
        await driver.ask("Remember this question")
    async with opened(home, options=AppOptions(continue_last=True)) as driver:
        await driver.until(lambda: driver.answers == ["One two three."])


async def test_a_draft_is_there_again_after_leaving(home: Path) -> None:
    async with opened(home) as driver:
        await driver.ready()
        await driver.ask("First")
        driver.prompt.insert("half a thought")
        await driver.pilot.press("ctrl+q")
        await driver.until(lambda: not driver.app.is_running)
    async with opened(home, options=AppOptions(continue_last=True)) as driver:
        await driver.until(lambda: driver.prompt.text == "half a thought")
