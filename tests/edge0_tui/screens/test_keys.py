"""Changing keys on screen: pressed, shown, written, and used at once."""

from __future__ import annotations

import re
from pathlib import Path

from textual.widgets import OptionList, Static, TextArea

from edge0_tui.screens.help import HelpScreen
from edge0_tui.screens.keys import KeysScreen
from edge0_tui.screens.models import ModelsScreen
from edge0_tui.screens.press_key import PressKeyScreen
from edge0_tui.screens.system_prompt import SystemPromptScreen
from edge0_tui.widgets.definitions import Definitions
from edge0_tui.widgets.empty_state import EmptyState
from edge0_tui.widgets.key_bar import KeyBar
from tests.edge0_tui.screens.driver import Driver, opened


async def go_to(driver: Driver, id: str) -> None:
    """Open the screen and put its cursor on this action."""
    driver.app.action_keys()
    await driver.on_screen(KeysScreen)
    view = driver.app.screen.query_one(OptionList)
    await driver.until(lambda: view.option_count)
    view.highlighted = view.get_option_index(id)


def note(driver: Driver, which: str = "#keys-note") -> str:
    return str(driver.app.screen.query_one(which, Static).content)


def bar(driver: Driver) -> str:
    return str(driver.app.chat.query_one(KeyBar).content)


async def test_a_new_key_works_at_once_and_is_shown_everywhere(home: Path) -> None:
    file = home / "config" / "keymap.toml"
    async with opened(home) as driver:
        await driver.ready()
        await go_to(driver, "models")
        await driver.pilot.press("enter")
        await driver.on_screen(PressKeyScreen)
        await driver.pilot.press("ctrl+i")
        assert "terminals send tab for ctrl+i" in note(driver, "#press-note").lower()
        await driver.pilot.press("ctrl+q")
        assert "Quit's" in note(driver, "#press-note") and driver.app.is_running
        await driver.pilot.press("ctrl+g")
        await driver.until(lambda: "Models: ^g." in note(driver))
        assert '"ctrl+g"' in file.read_text()
        await driver.pilot.press("escape")
        await driver.until(lambda: "^g models" in bar(driver) and "^o" not in bar(driver))
        await driver.until(lambda: "ctrl+g" in str(driver.app.chat.query_one(EmptyState).content))
        await driver.pilot.press("ctrl+o")
        assert driver.app.screen is driver.app.chat
        await driver.pilot.press("ctrl+g")
        await driver.on_screen(ModelsScreen)
        await driver.pilot.press("escape", "f1")
        await driver.on_screen(HelpScreen)
        await driver.until(lambda: driver.app.screen.query(Definitions))
        text = "\n".join(str(part.content) for part in driver.app.screen.query(Definitions))
        assert re.search(r"\^g +Choose checkpoint", text) and not re.search(r"\^o +Choose checkpoint", text)
    async with opened(home) as driver:
        await driver.pilot.press("ctrl+g")
        await driver.on_screen(ModelsScreen)


async def test_the_key_of_a_sheet_can_be_another_and_is_named_there(home: Path) -> None:
    (home / "config").mkdir()
    (home / "config" / "keymap.toml").write_text('use = "f9"\n')
    async with opened(home) as driver:
        driver.app.chat.action_system_prompt()
        await driver.on_screen(SystemPromptScreen)
        screen = driver.app.screen
        assert "f9 use" in str(screen.query(".sheet-keys").first(Static).content)
        screen.query_one(TextArea).load_text("Be brief.")
        await driver.pilot.press("ctrl+s")
        assert driver.app.screen is screen
        await driver.pilot.press("f9")
        await driver.until(lambda: driver.chat.conversation.system == "Be brief.")


async def test_a_key_in_use_is_taken_on_the_second_press_and_everything_can_be_undone(home: Path) -> None:
    async with opened(home) as driver:
        await driver.ready()
        await go_to(driver, "theme")
        await driver.pilot.press("enter")
        await driver.on_screen(PressKeyScreen)
        await driver.pilot.press("ctrl+n")
        assert "New chat's" in note(driver, "#press-note")
        await driver.pilot.press("ctrl+n")
        await driver.until(lambda: "New chat has it no longer" in note(driver))
        assert driver.app.keymap.keys("new_chat") == () and driver.app.keymap.keys("theme") == ("ctrl+n",)
        view = driver.app.screen.query_one(OptionList)
        view.highlighted = view.get_option_index("new_chat")
        await driver.pilot.press("r")
        assert "belongs to Theme now" in note(driver)
        view.highlighted = view.get_option_index("quit")
        await driver.pilot.press("delete")
        assert "must have a key" in note(driver)
        await driver.pilot.press("R")
        await driver.until(lambda: not driver.app.keymap.changed)
    assert not (home / "config" / "keymap.toml").exists()


async def test_other_keys_for_sending_and_for_lines(home: Path) -> None:
    file = home / "config" / "keymap.toml"
    file.parent.mkdir()
    file.write_text('send = ["ctrl+j"]\nnewline = ["enter"]\nquit = ["ctrl+g"]\n')
    async with opened(home) as driver:
        await driver.ready()
        await driver.pilot.press("a", "enter", "b")
        assert driver.prompt.text == "a\nb"
        await driver.pilot.press("ctrl+j")
        await driver.until(lambda: driver.answers and driver.chat.reply is None)
        await driver.until(lambda: bar(driver).startswith("^j send   enter newline"))
        await driver.pilot.press("ctrl+q")
        assert driver.app.is_running
        await driver.pilot.press("ctrl+g")
        await driver.until(lambda: not driver.app.is_running)


async def test_a_keymap_with_mistakes_is_reported_and_left(home: Path) -> None:
    file = home / "config" / "keymap.toml"
    file.parent.mkdir()
    file.write_text('models = ["ctrl+i"]\n')
    async with opened(home) as driver:
        await driver.until(lambda: "models: terminals send tab for ctrl+i" in driver.banner)
        await go_to(driver, "models")
        await driver.pilot.press("enter")
        await driver.on_screen(PressKeyScreen)
        await driver.pilot.press("ctrl+g")
        await driver.until(lambda: "Not written" in note(driver))
        assert driver.app.keymap.keys("models") == ("ctrl+g",)
    assert file.read_text() == 'models = ["ctrl+i"]\n'
