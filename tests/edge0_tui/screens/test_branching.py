"""Editing, asking again, continuing, going through versions, forking, comparing: by keys and by mouse."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.geometry import Offset

from edge0_tui.chat import sidecar
from edge0_tui.chat.conversation import Conversation
from edge0_tui.screens.compare import CompareScreen
from edge0_tui.screens.room import RoomScreen
from edge0_tui.widgets.activity_line import ActivityLine
from edge0_tui.widgets.key_bar import KeyBar
from edge0_tui.widgets.reply_pair import ReplyPair
from tests.edge0_tui.screens.driver import LONG, Driver, opened

TWO = {"replies": [{"text": "First answer."}, {"text": "Second answer.\n\n```py\nx = 1\n```\n\n```\ny\n```"}]}


def saved(home: Path) -> list[Conversation]:
    paths = sorted((home / "data" / "transcripts").glob("*.json"))
    return [sidecar.read(path.read_bytes()).conversation for path in paths]


def screen(driver: Driver) -> list[str]:
    lines = driver.app.screen._compositor.render_strips()
    return ["".join(segment.text for segment in line).rstrip() for line in lines]


def place(driver: Driver, text: str) -> Offset:
    for y, row in enumerate(screen(driver)):
        if text in row:
            return Offset(row.index(text), y)
    raise AssertionError(f"{text!r} is not on screen:\n" + "\n".join(screen(driver)))


def has(driver: Driver, text: str) -> bool:
    return any(text in row for row in screen(driver))


async def test_an_edited_question_becomes_a_version_and_the_old_branch_stays(home: Path) -> None:
    async with opened(home, TWO) as driver:
        await driver.ready()
        await driver.ask("Apples?")
        driver.prompt.insert("half a thought")
        await driver.pilot.press("alt+up", "alt+up")
        chosen = driver.transcript.chosen
        assert chosen is not None and chosen.text == "Apples?"
        await driver.until(lambda: "message_edit" in driver.app.chat.query_one(KeyBar)._ids)
        await driver.pilot.press("e")
        await driver.until(lambda: driver.prompt.text == "Apples?")
        line = driver.app.chat.query_one(ActivityLine)
        await driver.until(lambda: "new version" in line.activity.words)
        await driver.pilot.press("backspace")
        await driver.pilot.press("!", "enter")
        await driver.until(lambda: driver.answers and driver.answers[0].startswith("Second"))
        await driver.until(lambda: driver.chat.reply is None)
        assert driver.prompt.text == "half a thought", "the draft is back"
        assert driver.chat.conversation.path[0].text == "Apples!"
        await driver.until(lambda: has(driver, "‹2/2›"))
        await driver.pilot.click(offset=place(driver, "‹2/2›"))
        await driver.until(lambda: driver.answers == ["First answer."])
        await driver.until(lambda: has(driver, "‹1/2›") and has(driver, "First answer."))
    (chat,) = saved(home)
    assert len(chat.turns) == 4 and chat.path[0].text == "Apples?" and chat.draft == "half a thought"


async def test_escape_leaves_an_edit_and_brings_the_draft_back(home: Path) -> None:
    async with opened(home, TWO) as driver:
        await driver.ready()
        await driver.ask("Apples?")
        driver.prompt.insert("mine")
        await driver.pilot.press("alt+up", "alt+up", "e")
        await driver.until(lambda: driver.prompt.text == "Apples?")
        assert driver.chat._so_far().draft == "mine", "a crash now loses no draft"
        await driver.pilot.press("escape")
        assert driver.prompt.text == "mine" and not driver.chat.branching.editing


async def test_again_and_through_the_versions_with_the_arrows(home: Path) -> None:
    async with opened(home, TWO) as driver:
        await driver.ready()
        await driver.ask("Apples?")
        await driver.pilot.press("alt+up", "r")
        await driver.until(lambda: driver.answers[-1].startswith("Second") and driver.chat.reply is None)
        await driver.until(lambda: has(driver, "‹2/2›"))
        await driver.pilot.press("left")
        await driver.until(lambda: driver.answers == ["First answer."] and has(driver, "‹1/2›"))
        await driver.pilot.press("left")
        assert driver.answers == ["First answer."], "there is nothing before the first"
        await driver.pilot.press("right")
        await driver.until(lambda: driver.answers[-1].startswith("Second") and has(driver, "‹2/2›"))
        assert driver.transcript.chosen is not None
        await driver.pilot.press("k")
        await driver.until(lambda: driver.app.clipboard == "x = 1")
        await driver.pilot.press("k")
        await driver.until(lambda: driver.app.clipboard == "y")
        assert "copied" in driver.banner
        await driver.pilot.press("c")
        await driver.until(lambda: driver.app.clipboard.startswith("Second answer."))
        await driver.pilot.press("escape")
        assert driver.app.focused is driver.prompt and driver.transcript.chosen is None
        await driver.pilot.press("e")
        assert driver.prompt.text == "e", "letters are letters again"


async def test_a_stopped_answer_goes_on_where_it_ended(home: Path) -> None:
    async with opened(home, {"replies": [LONG]}) as driver:
        await driver.ready()
        await driver.send("Count.")
        await driver.until(lambda: driver.chat.reply and driver.chat.reply.counters.completion_tokens > 3)
        await driver.pilot.press("escape")
        await driver.until(lambda: driver.chat.reply is None)
        before = driver.answers[0]
        await driver.pilot.press("alt+up", "g")
        await driver.until(lambda: driver.chat.reply and driver.chat.reply.counters.completion_tokens > 3)
        await driver.until(lambda: has(driver, "word8"))
        await driver.pilot.press("escape", "escape")
        await driver.until(lambda: driver.chat.reply is None)
        (answer,) = driver.answers
        assert answer.startswith(before) and len(answer) > len(before)
        words = answer.split()
        assert words == [f"word{number}" for number in range(len(words))], "nothing is lost or twice"
        last = driver.chat.conversation.last
        assert last and last.attribution and last.attribution.continued == 1
        assert last.attribution.completion_tokens == len(words)
        assert len(driver.transcript.messages) == 2


async def test_a_finished_answer_is_not_continued(home: Path) -> None:
    async with opened(home) as driver:
        await driver.ready()
        await driver.ask("Apples?")
        await driver.pilot.press("alt+up", "g")
        assert "its own end" in driver.banner and driver.chat.reply is None


async def test_a_fork_is_a_chat_of_its_own(home: Path) -> None:
    async with opened(home, TWO) as driver:
        await driver.ready()
        await driver.ask("Apples?")
        await driver.ask("Pears?")
        first = driver.chat.conversation.id
        await driver.pilot.press("alt+up", "alt+up", "alt+up", "f")
        await driver.until(lambda: driver.chat.conversation.id != first)
        assert driver.answers == ["First answer."]
        await driver.until(lambda: len(driver.transcript.messages) == 2)
        await driver.ask("Plums?")
    assert sorted(len(chat.turns) for chat in saved(home)) == [4, 4]


@pytest.mark.parametrize(("size", "wide"), [((160, 40), True), ((100, 40), False)])
async def test_a_comparison_stands_beside_and_what_was_loaded_comes_back(
    home: Path, size: tuple[int, int], wide: bool
) -> None:
    info = {"adapters_available": ["recovery-r16"], "adapter": "recovery-r16"}
    async with opened(home, {**TWO, "info": info}, size=size) as driver:
        await driver.ready()
        await driver.ask("Apples?")
        await driver.pilot.press("alt+up", "v")
        await driver.on_screen(CompareScreen)
        await driver.until(lambda: driver.app.screen.query_one("MenuList").option_count)  # type: ignore[attr-defined]
        await driver.pilot.press("enter")
        await driver.until(lambda: driver.answers[-1].startswith("Second"))
        await driver.until(lambda: driver.chat.free)
        attributions = [
            turn.attribution.adapter
            for turn in driver.chat.conversation.turns.values()
            if turn.attribution is not None
        ]
        assert attributions == ["recovery-r16", "none"]
        assert driver.chat.link.info is not None and driver.chat.link.info.adapter == "recovery-r16"
        (pair,) = driver.app.chat.query(ReplyPair)
        await driver.until(lambda: pair.replies[1].text.startswith("Second"))
        first, second = (reply.region for reply in pair.replies)
        if wide:
            assert first.y == second.y and second.x >= first.right
        else:
            assert first.x == second.x and second.y >= first.bottom
        await driver.until(lambda: has(driver, "First answer.") and has(driver, "allocator peak"))
        driver.app.chat.action_message_beside()
        await driver.until(lambda: not driver.app.chat.query(ReplyPair))
        assert driver.answers[-1].startswith("Second")


async def test_what_does_not_fit_is_asked_about_before_anything_is_dropped(home: Path) -> None:
    script = {"replies": [{"text": "Fine."}, {"text": "Without the beginning.", "match": "long", "too_long": True}]}
    async with opened(home, script) as driver:
        await driver.ready()
        await driver.ask("short")
        await driver.send("long")
        await driver.on_screen(RoomScreen)
        assert driver.answers == ["Fine.", ""]
        await driver.pilot.press("escape")
        await driver.until(lambda: "longer than the context" in driver.banner)
        await driver.pilot.press("alt+up", "r")
        await driver.on_screen(RoomScreen)
        await driver.pilot.press("enter")
        await driver.until(lambda: driver.answers[-1] == "Without the beginning.")
        await driver.until(lambda: has(driver, "without the 2 oldest messages"))
        assert len(driver.chat.conversation.turns) == 4, "nothing left the chat"


async def test_what_does_not_fit_is_answered_in_a_new_chat_of_its_own(home: Path) -> None:
    script = {"replies": [{"text": "Fine."}, {"text": "Never said.", "match": "long", "too_long": True}]}
    async with opened(home, script) as driver:
        await driver.ready()
        driver.chat.change_chat(system="Be brief.")
        await driver.ask("short")
        before = driver.chat.conversation.id
        await driver.send("long")
        await driver.on_screen(RoomScreen)
        await driver.pilot.press("down", "enter")
        await driver.until(lambda: driver.chat.conversation.id != before and driver.chat.conversation.turns)
        chat = driver.chat.conversation
        assert [turn.text for turn in chat.path if turn.role == "user"] == ["long"]
        assert chat.system == "Be brief."
        await driver.on_screen(RoomScreen)  # the message alone is too long, too: this script refuses it anywhere
        await driver.pilot.press("escape")
        await driver.until(lambda: "Your message stays; e edits it." in driver.banner)
        left = driver.app.store.load(before)
        assert [turn.text for turn in left.path if turn.role == "user"] == ["short", "long"], (
            "the chat is as it was"
        )


async def test_a_larger_context_is_loaded_and_the_question_asked_again(home: Path) -> None:
    script = {"replies": [{"text": "Fine."}, {"text": "With all of it.", "match": "long", "too_long": True}]}
    async with opened(home, script) as driver:
        await driver.ready()
        await driver.ask("short")
        await driver.send("long")
        await driver.on_screen(RoomScreen)
        await driver.until(lambda: has(driver, "A context of 8,192 tokens"))
        await driver.pilot.press("down", "down", "enter")
        await driver.until(lambda: driver.answers[-1] == "With all of it.")
        info, loaded = driver.chat.link.info, driver.chat.link.loaded
        assert info is not None and info.context_limit == 8192
        assert loaded is not None and loaded.context == 8192, "it is what the next load keeps"
        await driver.until(lambda: has(driver, "With all of it."))
        assert not has(driver, "oldest messages"), "nothing was left out"


async def test_a_fuller_context_is_told_once(home: Path) -> None:
    async with opened(home, {"replies": [{"text": "Fine.", "prompt_tokens": 3500}]}) as driver:
        await driver.ready()
        await driver.ask("one")
        assert "85 % full" in driver.banner
        await driver.pilot.press("escape")
        await driver.ask("two")
        assert "full" not in driver.banner
