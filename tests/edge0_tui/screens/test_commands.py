"""What a person may write after a command: names are proposed, taken, and a slip is told what was meant."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import Input

from edge0_tui.screens.chats import ChatsScreen
from edge0_tui.screens.export import ExportScreen
from edge0_tui.screens.models import ModelsScreen
from edge0_tui.screens.search_prompts import SearchPromptsScreen
from edge0_tui.screens.themes import ThemesScreen
from edge0_tui.widgets.models_list import ModelsList
from tests.edge0_tui.screens.driver import SHORT, Driver, opened

SCRIPT = {
    "replies": [SHORT],
    "info": {"adapters_available": ["recovery-r16"], "adapter": "recovery-r16", "predicted_available": True},
}


async def told(driver: Driver, command: str, *parts: str) -> None:
    """The command is not run, which is said, and it stands in the prompt again."""
    await driver.send(command)
    await driver.until(lambda: all(part in driver.banner for part in parts))
    assert driver.prompt.text == command
    driver.prompt.load_text("")


async def test_a_theme_by_name_by_title_by_completion_or_from_the_list(home: Path) -> None:
    async with opened(home) as driver:
        await driver.send("/theme foolscap")
        await driver.until(lambda: driver.app.theme == "foolscap")
        assert 'theme = "foolscap"' in (home / "config" / "settings.toml").read_text()
        await driver.send("/theme NOON (high contrast)")
        await driver.until(lambda: driver.app.theme == "noon")
        await driver.pilot.press(*"/theme harb", "enter")
        await driver.until(lambda: driver.app.theme == "harbour")
        await told(driver, "/theme emberr", "There is no theme emberr.", "Did you mean ember?")
        await told(driver, "/theme contrast", "Did you mean lighthouse or noon?")
        await told(driver, "/theme zzz", "There are: ", "tidepool")
        assert driver.app.theme == "harbour"
        await driver.send("/theme")
        await driver.on_screen(ThemesScreen)


async def test_a_theme_is_kept_where_no_color_hides_it(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with opened(home) as driver:
        await driver.send("/theme ember")
        await driver.until(lambda: "Ember is kept, but NO_COLOR is set." in driver.banner)
        assert driver.app.theme == "terminal16" and driver.app.settings.look.theme == "ember"


async def test_model_adapter_and_routing_take_names_and_open_the_menu_at_their_lines(home: Path) -> None:
    async with opened(home, SCRIPT) as driver:
        await driver.ready()
        await driver.pilot.press(*"/model ")
        await driver.until(
            lambda: driver.prompt.menu and "nano" in [each.insert for each in driver.prompt.menu.items]
        )
        driver.prompt.load_text("")
        await told(driver, "/model nanoo", "nanoo: there is no such directory or model.", "Did you mean nano?")
        await told(driver, "/adapter recoverry", "There is no adapter recoverry", "Did you mean recovery-r16?")
        await told(driver, "/routing both", "It is exact or predicted.")
        await driver.send("/adapter none")
        await driver.until(lambda: driver.chat.link.info and driver.chat.link.info.adapter == "none")
        await driver.ready()
        await driver.send("/routing predicted")
        await driver.until(lambda: driver.chat.link.info and driver.chat.link.info.routing == "predicted")
        await driver.ready()
        for command, line in (("/adapter", "adapter:none"), ("/routing", "routing:predicted")):
            await driver.send(command)
            await driver.on_screen(ModelsScreen)
            await driver.until(lambda: driver.app.screen.query_one(ModelsList).line)
            chosen = driver.app.screen.query_one(ModelsList).line
            assert chosen is not None and chosen.id == line
            await driver.pilot.press("escape")


async def test_words_to_search_for_and_commands_that_take_nothing(home: Path) -> None:
    async with opened(home) as driver:
        await driver.ready()
        await driver.ask("About slots")
        await driver.send("/search three")
        await driver.on_screen(ChatsScreen)
        screen = driver.app.screen
        assert isinstance(screen, ChatsScreen) and screen.query_one(Input).value == "three"
        await driver.until(lambda: [chat.title for chat in screen.listed.values()] == ["About slots"])
        await driver.pilot.press("escape")
        await driver.send("/history slots")
        await driver.on_screen(SearchPromptsScreen)
        await driver.pilot.press("enter")
        await driver.until(lambda: driver.prompt.text == "About slots")
        driver.prompt.load_text("")
        await told(driver, "/new something else", "/new takes nothing after it.")
        assert driver.chat.conversation.turns


async def test_a_chat_is_written_as_the_command_says(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home)
    async with opened(home) as driver:
        await driver.ready()
        await told(driver, "/export md", "nothing to export yet")
        await driver.ask("About slots")
        await driver.send("/export html")
        await driver.until(lambda: [*home.glob("*about-slots*.html")])
        await driver.send("/export notes.md")
        await driver.until(lambda: (home / "notes.md").exists() and "Written" in driver.banner)
        await told(driver, "/export notes.md", "there is a file of this name already")
        await told(driver, "/export notes.pdf", "does not say a format")
        await driver.send("/export")
        await driver.on_screen(ExportScreen)
