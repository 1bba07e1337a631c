"""Commands, files, saved prompts, system prompts and sampling in the chat."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from textual.widgets import Input, TextArea

from edge0_tui.chat.chat_sampling import ChatSampling
from edge0_tui.screens.ask_name import AskNameScreen
from edge0_tui.screens.export import ExportScreen
from edge0_tui.screens.help import HelpScreen
from edge0_tui.screens.sampling import SamplingScreen
from edge0_tui.screens.search_prompts import SavedPromptsScreen, SearchPromptsScreen
from edge0_tui.screens.system_prompt import SystemPromptScreen
from edge0_tui.widgets.message_user import UserMessage
from edge0_tui.widgets.prompt_notes import PromptNotes
from edge0_tui.widgets.proposals import Proposals
from tests.edge0_tui.screens.driver import SHORT, Driver, opened

LONG_TEXT = "\n".join(f"line {number}" for number in range(240))


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with files to attach."""
    folder = tmp_path / "project"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "slots.py").write_text("def slot():\n    return '```'\n")
    (folder / "notes.txt").write_text("one two three\n")
    (folder / "image.png").write_bytes(b"\x89PNG\x00\xff")
    monkeypatch.chdir(folder)
    return folder


def notes(driver: Driver) -> str:
    return "\n".join(line.plain for line in driver.app.chat.query_one(PromptNotes)._lines())


async def test_commands_run_actions_and_unknown_ones_are_named(home: Path) -> None:
    async with opened(home) as driver:
        await driver.ready()
        await driver.ask("About slots")
        await driver.send("/nwe")
        await driver.until(lambda: "/nwe" in driver.banner and "/new" in driver.banner)
        assert driver.prompt.text == "/nwe"
        driver.prompt.load_text("")
        await driver.pilot.press(*"/he")
        await driver.until(lambda: driver.app.chat.query_one(Proposals).display)
        await driver.pilot.press("enter")
        await driver.on_screen(HelpScreen)
        await driver.pilot.press("escape")
        await driver.send("/new")
        await driver.until(lambda: not driver.chat.conversation.turns)
        assert await driver.ask(" /new is a command") == "One two three."
        assert driver.chat.conversation.path[0].text == " /new is a command"


async def test_a_menu_of_commands_is_walked_closed_and_completed(home: Path) -> None:
    async with opened(home) as driver:
        await driver.ready()
        await driver.pilot.press(*"/pre", "tab")
        assert driver.prompt.text == "/preset"
        await driver.pilot.press("space", "down", "down", "down")
        menu = driver.prompt.menu
        assert menu is not None and menu.items[driver.prompt.chosen].label == "balanced"
        await driver.pilot.press("escape")
        assert driver.prompt.menu is None and driver.prompt.text == "/preset "
        await driver.pilot.press(*"cre", "enter")
        await driver.until(lambda: driver.chat.conversation.sampling == ChatSampling("creative"))
        await driver.until(lambda: "creative" in notes(driver))


async def test_files_are_completed_weighed_sent_whole_and_folded_in_the_transcript(home: Path, files: Path) -> None:
    async with opened(home) as driver:
        await driver.ready()
        await driver.pilot.press(*"Why @s")
        await driver.until(lambda: driver.prompt.menu and driver.prompt.menu.items[0].label == "src/")
        await driver.pilot.press("tab")
        await driver.until(lambda: driver.prompt.menu and driver.prompt.menu.items[0].label == "slots.py")
        await driver.pilot.press("enter")
        assert driver.prompt.text == "Why @src/slots.py "
        await driver.until(lambda: "2 lines" in notes(driver) and "13 tokens" in notes(driver))
        assert "≈" not in notes(driver), "the engine has counted"
        await driver.pilot.press("enter")
        await driver.until(lambda: driver.answers == ["One two three."])
        text = driver.chat.conversation.path[0].text
        assert "def slot():\n    return '```'" in text and text.startswith("Why @src/slots.py")
        message = driver.transcript.query_one(UserMessage)
        folded = message.rows
        await driver.pilot.press("ctrl+s")
        assert message.unfolded and message.rows > folded
        await driver.pilot.press("ctrl+s")
        assert message.rows == folded


async def test_files_that_cannot_be_sent_are_refused_by_name(home: Path, files: Path) -> None:
    async with opened(home) as driver:
        await driver.ready()
        await driver.send("See @image.png and @notes.txt.")
        await driver.until(lambda: "image.png: this is no text" in driver.banner)
        assert driver.prompt.text == "See @image.png and @notes.txt." and not driver.chat.conversation.turns
        driver.prompt.load_text("")
        await driver.send("/attach gone.txt")
        await driver.until(lambda: "gone.txt: there is no such file" in driver.banner)
        driver.prompt.load_text("")
        await driver.send("/attach notes.txt")
        await driver.until(lambda: driver.prompt.text == "@notes.txt ")
        driver.prompt.load_text("")
        await driver.send("/attach")
        await driver.until(lambda: driver.prompt.menu and driver.prompt.menu.items[-1].label == "notes.txt")
        (files / "long.txt").write_text("word " * 5000)
        driver.prompt.put("@long.txt")
        await driver.until(lambda: "more than the context of 4,096 tokens" in notes(driver))
        driver.prompt.put("@gone/file.txt")
        await driver.until(lambda: "sent as text" in notes(driver))


async def test_prompts_are_remembered_across_chats_and_evenings(home: Path) -> None:
    async with opened(home) as driver:
        await driver.ready()
        await driver.ask("First question")
        await driver.pilot.press("ctrl+n")
        await driver.until(lambda: not driver.chat.conversation.turns)
        await driver.pilot.press("up")
        assert driver.prompt.text == "First question"
        driver.prompt.put("Second question")
        await driver.pilot.press("enter")
        await driver.until(lambda: (home / "data" / "prompt_history.jsonl").read_text().count("\n") == 2)
    async with opened(home) as driver:
        await driver.until(lambda: len(driver.prompt.history_walk.entries) == 2)
        await driver.pilot.press("ctrl+f")
        await driver.on_screen(SearchPromptsScreen)
        await driver.pilot.press(*"first", "enter")
        await driver.until(lambda: driver.prompt.text == "First question")


async def test_drafts_of_two_chats_are_kept_whole_and_folded(home: Path) -> None:
    async with opened(home) as driver:
        await driver.ready()
        await driver.ask("One")
        first = driver.chat.conversation.id
        driver.prompt.insert_folded(LONG_TEXT)
        await driver.pilot.press("ctrl+n")
        await driver.until(lambda: not driver.chat.conversation.turns)
        assert driver.prompt.text == ""
        await driver.ask("Two")
        driver.prompt.insert("half a thought")
        second = driver.chat.conversation.id
        await driver.app.chat._open_chat(first)
        await driver.until(lambda: driver.prompt.text == "[pasted 240 lines]")
        assert driver.chat.conversation.draft == LONG_TEXT
        await driver.app.chat._open_chat(second)
        await driver.until(lambda: driver.prompt.text == "half a thought")


async def test_prompts_are_saved_listed_and_put_in(home: Path) -> None:
    async with opened(home) as driver:
        await driver.ready()
        await driver.send("/save review Look at {input} closely.")
        await driver.until(lambda: "review.md" in driver.banner)
        assert (home / "config" / "prompts" / "review.md").read_text() == "Look at {input} closely.\n"
        await driver.send("/save review again")
        await driver.until(lambda: "is there already" in driver.banner)
        driver.prompt.load_text("")
        await driver.send("/review this file")
        await driver.until(lambda: driver.prompt.text == "Look at this file closely.")
        await driver.app.run_action("screen.save_prompt", driver.app.chat)
        await driver.on_screen(AskNameScreen)
        await driver.pilot.press(*"closely", "enter")
        await driver.until(lambda: (home / "config" / "prompts" / "closely.md").exists())
        driver.prompt.load_text("")
        await driver.send("/prompts")
        await driver.on_screen(SavedPromptsScreen)
        await driver.pilot.press("enter")
        await driver.until(lambda: driver.prompt.text == "Look at this file closely.")


async def test_a_system_prompt_is_written_saved_sent_and_kept_with_the_chat(home: Path) -> None:
    async with opened(home) as driver:
        await driver.ready()
        await driver.send("/system")
        await driver.on_screen(SystemPromptScreen)
        driver.app.screen.query_one("#system-text", TextArea).insert("Answer in rhymes.")
        driver.app.screen.query_one("#system-name", Input).focus()
        await driver.pilot.press(*"poet", "enter")
        assert (home / "config" / "system" / "poet.md").read_text() == "Answer in rhymes.\n"
        await driver.pilot.press("ctrl+s")
        await driver.until(lambda: driver.chat.conversation.system == "Answer in rhymes.")
        await driver.until(lambda: "system prompt" in notes(driver))
        await driver.ask("Hello")
        assert driver.chat.conversation.messages()[0].content == "Answer in rhymes."
        await driver.send("/system none")
        await driver.until(lambda: driver.chat.conversation.system == "")
        await driver.send("/system poet")
        await driver.until(lambda: driver.chat.conversation.system == "Answer in rhymes.")
        id = driver.chat.conversation.id
        await driver.send("/new")
        await driver.until(lambda: not driver.chat.conversation.turns)
        assert driver.chat.conversation.system == ""
        await driver.app.chat._open_chat(id)
        assert driver.chat.conversation.system == "Answer in rhymes."


async def test_sampling_of_a_chat_is_chosen_used_recorded_and_kept(home: Path) -> None:
    async with opened(home, {"replies": [SHORT]}) as driver:
        await driver.ready()
        await driver.send("/sampling")
        await driver.on_screen(SamplingScreen)
        await driver.pilot.press("down", "down", "enter")
        driver.app.screen.query_one("#sampling-seed", Input).focus()
        await driver.pilot.press(*"7x", "ctrl+s")
        assert isinstance(driver.app.screen, SamplingScreen), "a mistake keeps the sheet open"
        await driver.pilot.press("backspace", "ctrl+s")
        await driver.until(lambda: driver.chat.conversation.sampling == ChatSampling("precise", seed=7))
        await driver.send("/max 2")
        await driver.until(lambda: driver.chat.conversation.sampling.max_tokens == 2)
        assert await driver.ask("Hello") == "One two"
        last = driver.chat.conversation.last
        assert last and last.attribution
        used = last.attribution.sampling
        assert (used.temperature, used.seed, used.max_tokens) == (0.2, 7, 2)
        await driver.send("/seed -3")
        await driver.until(lambda: "Seed: -3 is not between" in driver.banner)
        driver.prompt.load_text("")
        id = driver.chat.conversation.id
        await driver.send("/new")
        await driver.until(lambda: not driver.chat.conversation.turns)
        assert driver.chat.conversation.sampling == ChatSampling()
        await driver.app.chat._open_chat(id)
        assert driver.chat.conversation.sampling == ChatSampling("precise", seed=7, max_tokens=2)
    (sidecar,) = (home / "data" / "transcripts").glob("*.json")
    body = json.loads(sidecar.read_text())["conversation"]
    assert body["sampling"] == {"preset": "precise", "seed": 7, "max_tokens": 2}


async def test_the_chat_on_screen_is_exported_and_texts_come_back_after_an_edit_with_their_file(
    home: Path, files: Path
) -> None:
    async with opened(home) as driver:
        await driver.ready()
        await driver.ask("Why @src/slots.py")
        await driver.send("/export")
        await driver.on_screen(ExportScreen)
        await driver.pilot.press("enter")
        await driver.until(lambda: (files / "why-src-slots-py.md").exists() and "Written" in driver.banner)
        question = driver.chat.conversation.path[0].text
        driver.prompt.put(question)
        assert driver.prompt.text == "Why @src/slots.py\n\n[file src/slots.py, 2 lines]"
        await driver.until(lambda: notes(driver).startswith("file src/slots.py"))
        assert "in all" not in notes(driver), "the file counts once"
        await driver.pilot.press("enter")
        await driver.until(lambda: len(driver.answers) == 2)
        assert driver.chat.conversation.path[2].text == question


async def test_by_mouse_proposals_are_taken_and_folds_opened(home: Path, files: Path) -> None:
    async with opened(home) as driver:
        await driver.ready()
        await driver.pilot.press(*"@n")
        await driver.until(lambda: driver.app.chat.query_one(Proposals).display)
        await driver.pilot.pause()
        await driver.pilot.click(Proposals, offset=(5, 0))
        await driver.until(lambda: driver.prompt.text == "@notes.txt ")
        driver.prompt.put(LONG_TEXT)
        await driver.pilot.press("enter")
        await driver.until(lambda: driver.answers)
        message = driver.transcript.query_one(UserMessage)
        folded = message.rows
        driver.transcript.scroll_home(animate=False)
        await driver.pilot.pause()
        await driver.pilot.click(UserMessage, offset=(5, folded - 1))
        await driver.until(lambda: message.rows > 240)
