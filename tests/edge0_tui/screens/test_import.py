"""Taking exported chats in: found by typing, several at once, and what is refused named in one message."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import Input, Static

from edge0_tui.chat.conversation import Conversation
from edge0_tui.chat.turn import Turn
from edge0_tui.exchange.formats import FORMATS, export
from edge0_tui.screens.chats import ChatsScreen
from edge0_tui.screens.import_chats import ImportScreen
from edge0_tui.widgets.chat_list import ChatList
from edge0_tui.widgets.menu_list import MenuList
from tests.edge0_tui.screens.driver import Driver, opened

TITLES = ("Apples", "Pears", "Plums")


@pytest.fixture
def exports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """One good file of each format, a damaged one, one that is no export, and a folder."""
    folder = tmp_path / "given away"
    (folder / "older").mkdir(parents=True)
    for title, format in zip(TITLES, FORMATS, strict=True):
        chat = Conversation().add(Turn("user", title, id="q")).add(Turn("assistant", f"{title}!", "", "q"))
        (folder / f"{title.lower()}.{format}").write_bytes(export(chat, format))
    (folder / "older" / "cut.json").write_bytes((folder / "pears.json").read_bytes()[:200])
    (folder / "older" / "notes.md").write_text("Just notes.\n")
    (folder / "older" / "picture.png").write_bytes(b"\x89PNG")
    monkeypatch.chdir(folder)
    return folder


def lines(driver: Driver) -> list[str]:
    return [str(option.prompt).split("  ")[1].strip() for option in driver.app.screen.query_one(MenuList).options]


async def test_from_the_list_one_then_all_of_a_folder(home: Path, exports: Path) -> None:
    async with opened(home) as driver:
        await driver.pilot.press("ctrl+b")
        await driver.on_screen(ChatsScreen)
        await driver.pilot.press("ctrl+o")
        await driver.on_screen(ImportScreen)
        await driver.until(
            lambda: lines(driver) == ["All 3 files below", "older/", "apples.md", "pears.json", "plums.html"]
        )
        await driver.pilot.press(*"pe")
        await driver.until(lambda: lines(driver) == ["pears.json"])
        await driver.pilot.press("enter")
        await driver.on_screen(ChatsScreen)
        view = driver.app.screen.query_one(ChatList)
        await driver.until(lambda: [row.title for row in view.rows] == ["Pears"])
        assert "Imported: Pears." in str(driver.app.screen.query_one("#chats-note", Static).content)
        await driver.pilot.press("ctrl+o")
        await driver.on_screen(ImportScreen)
        await driver.until(lambda: len(lines(driver)) == 5)
        await driver.pilot.press("enter")
        await driver.on_screen(ChatsScreen)
        view = driver.app.screen.query_one(ChatList)
        await driver.until(lambda: sorted(row.title for row in view.rows) == list(TITLES))
        said = str(driver.app.screen.query_one("#chats-note", Static).content)
        assert "3 chats imported, 1 of them here before." in said


async def test_what_is_refused_is_named_in_one_message_and_keeps_nothing_else_out(
    home: Path, exports: Path
) -> None:
    async with opened(home) as driver:
        await driver.ready()
        await driver.send("/import older")
        await driver.on_screen(ImportScreen)
        screen = driver.app.screen
        await driver.until(lambda: lines(driver) == ["All 2 files below", "cut.json", "notes.md"])
        field = screen.query_one(Input)
        # As a file manager drops them on the terminal.
        field.value = f"'{exports}/apples.md' '{exports}/older/cut.json' {exports.as_uri()}/older/notes.md"
        await driver.pilot.press("enter")
        note = screen.query_one("#import-note", Static)
        await driver.until(lambda: "Not imported" in str(note.content))
        said = str(note.content)
        assert said.startswith("Imported: Apples.") and "cut.json: " in said and "notes.md: " in said
        assert field.value.startswith("'"), "what was typed stays"
        await driver.pilot.press("escape")
        await driver.until(lambda: driver.chat.conversation.title == "Apples")
        assert driver.answers == ["Apples!"]
        assert (exports / "apples.md").exists(), "the file stays"
        await driver.send(f"/import {exports}/gone.md")
        await driver.until(lambda: "gone.md: there is no such file" in driver.banner)
        assert driver.prompt.text == f"/import {exports}/gone.md"
        driver.prompt.load_text("")
        await driver.send(f"/import {exports}/plums.html")
        await driver.until(lambda: driver.chat.conversation.title == "Plums")


async def test_folders_are_gone_through_by_keys_and_an_empty_one_says_so(home: Path, exports: Path) -> None:
    (exports / "older" / "empty").mkdir()
    async with opened(home, size=(60, 20)) as driver:
        driver.app.chat.action_import_chats()
        await driver.on_screen(ImportScreen)
        field = driver.app.screen.query_one(Input)
        await driver.until(lambda: len(lines(driver)) == 5)
        await driver.pilot.press("down", "tab")
        await driver.until(lambda: field.value == f"{exports}/older/" and len(lines(driver)) == 4)
        await driver.pilot.press("down", "enter")
        await driver.until(lambda: field.value.endswith("/older/empty/") and not lines(driver))
        await driver.pilot.press("enter")
        note = driver.app.screen.query_one("#import-note", Static)
        await driver.until(lambda: "nothing to import in this folder" in str(note.content))
