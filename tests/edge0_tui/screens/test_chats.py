"""The list of saved chats, by keyboard and by mouse."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import Input, Static

from edge0_tui.chat.conversation import Conversation
from edge0_tui.chat.store import TranscriptStore
from edge0_tui.chat.turn import Turn
from edge0_tui.options import AppOptions
from edge0_tui.screens.chats import ChatsScreen
from edge0_tui.screens.export import ExportScreen
from edge0_tui.screens.rename import RenameScreen
from edge0_tui.widgets.chat_list import ChatList
from edge0_tui.widgets.chat_preview import ChatPreview
from edge0_tui.widgets.key_bar import KeyBar
from tests.edge0_tui.screens.driver import Driver, opened


@pytest.fixture
def store(home: Path) -> TranscriptStore:
    """Three chats, "Plums" the latest."""
    store = TranscriptStore(home / "data" / "transcripts")
    for title, answer in (("Apples", "Red."), ("Pears [bold]and", "Green, like a Größe."), ("Plums", "Blue.")):
        chat = Conversation().add(Turn("user", title, id="q"))
        store.save(chat.add(Turn("assistant", answer, "", "q")))
    return store


def titles(driver: Driver) -> list[str]:
    return [row.title for row in driver.app.screen.query_one(ChatList).rows]


def note(driver: Driver) -> str:
    return str(driver.app.screen.query_one("#chats-note", Static).content)


async def listed(driver: Driver, count: int = 3) -> ChatList:
    await driver.pilot.press("ctrl+b")
    await driver.on_screen(ChatsScreen)
    view = driver.app.screen.query_one(ChatList)
    await driver.until(lambda: len(view.rows) == count)
    return view


async def test_texts_are_searched_while_typing_shown_beside_and_opened(home: Path, store: TranscriptStore) -> None:
    async with opened(home) as driver:
        view = await listed(driver)
        assert titles(driver) == ["Plums", "Pears [bold]and", "Apples"]
        await driver.pilot.press(*"grosse")
        await driver.until(lambda: titles(driver) == ["Pears [bold]and"])
        snippet = view.rows[0].snippet
        assert snippet is not None and [snippet.text[a:b] for a, b in snippet.spans] == ["Größe"]
        preview = driver.app.screen.query_one(ChatPreview)
        await driver.until(lambda: "Green, like a Größe." in preview.shows())
        assert "Pears [bold]and" in preview.shows() and "2 turns" in preview.shows()
        await driver.pilot.press("x")
        await driver.until(lambda: not view.rows and "No chat here has all these words." in note(driver))
        await driver.pilot.press("backspace")
        await driver.until(lambda: view.rows and not note(driver))
        await driver.pilot.press("enter")
        await driver.until(lambda: driver.chat.conversation.title == "Pears [bold]and")
        await driver.until(lambda: len(driver.transcript.messages) == 2)


async def test_rename_pin_archive_and_copy(home: Path, store: TranscriptStore) -> None:
    async with opened(home) as driver:
        await listed(driver)
        await driver.pilot.press("down", "down", "ctrl+t")
        await driver.until(lambda: titles(driver)[0] == "Apples")
        await driver.pilot.press("ctrl+r")
        await driver.on_screen(RenameScreen)
        driver.app.screen.query_one(Input).value = "Old apples"
        await driver.pilot.press("enter")
        await driver.on_screen(ChatsScreen)
        await driver.until(lambda: titles(driver)[0] == "Old apples")
        await driver.pilot.press("ctrl+a")
        await driver.until(lambda: titles(driver) == ["Plums", "Pears [bold]and"])
        await driver.pilot.press("tab")
        await driver.until(lambda: titles(driver) == ["Old apples"])
        await driver.pilot.press("ctrl+a")
        await driver.until(lambda: titles(driver) == [] and "back among" in note(driver))
        await driver.pilot.press("tab", "tab", "ctrl+y")
        await driver.until(lambda: len(titles(driver)) == 4)
        assert "Old apples (copy)" in titles(driver)
    marks = {chat.title: (chat.pinned, chat.archived) for chat in store.list()}
    assert marks["Old apples"] == (True, False) and marks["Old apples (copy)"] == (False, False)


async def test_rename_delete_undo_and_restore_the_chat_on_screen(home: Path, store: TranscriptStore) -> None:
    async with opened(home, options=AppOptions(continue_last=True)) as driver:
        await driver.ready()
        await driver.until(lambda: driver.chat.conversation.title == "Plums")
        await listed(driver)
        await driver.pilot.press("ctrl+r")
        await driver.on_screen(RenameScreen)
        driver.app.screen.query_one(Input).value = "Damsons"
        await driver.pilot.press("enter")
        await driver.until(lambda: driver.chat.conversation.title == "Damsons")
        await driver.on_screen(ChatsScreen)
        await driver.pilot.press("escape")
        await driver.ask("More?")
        assert sorted((chat.title, chat.turns) for chat in store.list())[1] == ("Damsons", 4)
        view = await listed(driver)
        assert view.rows[0].marked
        await driver.pilot.press("ctrl+d")
        await driver.until(lambda: titles(driver) == ["Pears [bold]and", "Apples"])
        assert not driver.chat.conversation.turns and "30 days" in note(driver)
        await driver.pilot.press("ctrl+d")
        await driver.until(lambda: titles(driver) == ["Apples"])
        await driver.pilot.press("ctrl+z")
        await driver.until(lambda: titles(driver) == ["Pears [bold]and", "Apples"])
        await driver.pilot.press("tab", "tab")
        await driver.until(lambda: titles(driver) == ["Damsons"])
        await driver.pilot.press("enter")
        await driver.until(lambda: titles(driver) == [] and "back" in note(driver))
        await driver.pilot.press("tab")
        await driver.until(lambda: titles(driver) == ["Damsons", "Pears [bold]and", "Apples"])
        await driver.pilot.press("escape")
        await driver.until(lambda: driver.app.screen is driver.app.chat)
        assert driver.app.chat.offer is None
    assert len(store.list()) == 3


async def test_export_asks_for_format_and_file(
    home: Path, store: TranscriptStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(home)
    plums = store.load(store.list()[0].id)
    store.save(plums.add(Turn("assistant", "Purple.", "", "q")))
    async with opened(home) as driver:
        await listed(driver)
        await driver.pilot.press("ctrl+e")
        await driver.on_screen(ExportScreen)
        await driver.pilot.press("down")
        await driver.until(lambda: driver.app.screen.query_one(Input).value.endswith(".html"))
        await driver.pilot.press("enter")
        await driver.until(lambda: list(home.glob("*plums*.html")))
        await driver.until(lambda: "Written" in note(driver))
        await driver.pilot.press("ctrl+e")
        await driver.on_screen(ExportScreen)
        await driver.pilot.press("down", "enter")
        await driver.until(lambda: "already" in note(driver))
        await driver.pilot.press("ctrl+e")
        await driver.on_screen(ExportScreen)
        await driver.pilot.press("down", "down", "down", "enter")
        await driver.until(lambda: list(home.glob("*plums*.md")))
        await driver.until(lambda: ".md" in note(driver))
    (whole,), (branch,) = home.glob("*plums*.html"), home.glob("*plums*.md")
    assert b"Blue." in whole.read_bytes() and b"Purple." in whole.read_bytes()
    assert b"Blue." not in branch.read_bytes() and b"Purple." in branch.read_bytes()


async def test_by_mouse(home: Path, store: TranscriptStore) -> None:
    async with opened(home, size=(60, 24)) as driver:
        view = await listed(driver)
        assert not driver.app.screen.query_one(ChatPreview).display
        await driver.pilot.click(ChatList, offset=(5, 2))
        await driver.until(lambda: view.at == 2)
        bar = driver.app.screen.query("#chats-keys-more").first(KeyBar)
        assert bar.region.bottom <= 24 and bar.region.width > 50
        await driver.pilot.click(bar, offset=(str(bar.content).index("archive") + 1, 0))
        await driver.until(lambda: titles(driver) == ["Plums", "Pears [bold]and"])
        await driver.pilot.click("#chats-views", offset=(12, 0))
        await driver.until(lambda: titles(driver) == ["Apples"])
        await driver.pilot.click(ChatList, offset=(5, 0))
        await driver.until(lambda: driver.chat.conversation.title == "Apples")


async def test_no_chats_and_damaged_ones(home: Path) -> None:
    broken = home / "data" / "transcripts" / "broken.md"
    async with opened(home) as driver:
        await listed(driver, 0)
        await driver.until(lambda: note(driver) == "No conversation yet.")
        await driver.pilot.press("ctrl+d", "ctrl+e", "ctrl+r", "ctrl+t", "ctrl+a", "ctrl+y", "enter", "ctrl+z")
        await driver.until(lambda: "nothing to undo" in note(driver))
        await driver.pilot.press("ctrl+b")
        await driver.until(lambda: driver.app.screen is driver.app.chat)
        broken.parent.mkdir(parents=True, exist_ok=True)
        broken.write_text("no front matter")
        view = await listed(driver, 1)
        assert "front matter" in view.rows[0].problem
        await driver.pilot.press("ctrl+t")
        await driver.until(lambda: "left as it is" in note(driver))
        await driver.pilot.press("enter")
        await driver.until(lambda: "broken.md" in driver.banner)
        assert not driver.chat.conversation.turns
    assert broken.read_text() == "no front matter"
