"""The secondary screens, by keyboard alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.color import Color
from textual.filter import Monochrome, NoColor
from textual.widgets import Checkbox, Input, Log, Static

from edge0_tui import settings_file
from edge0_tui.keys import ACTIONS
from edge0_tui.log_tail import tail
from edge0_tui.screens.help import HelpScreen
from edge0_tui.screens.log import LogScreen
from edge0_tui.screens.models import ModelsScreen
from edge0_tui.screens.settings import SettingsScreen
from edge0_tui.screens.themes import ThemesScreen
from edge0_tui.settings_schema import keys
from edge0_tui.widgets.definitions import Definitions
from edge0_tui.widgets.menu_list import MenuList
from edge0_tui.widgets.setting_row import SettingRow
from tests.edge0_tui.screens.driver import SHORT, Driver, opened

TWO_ADAPTERS = {"replies": [SHORT], "info": {"adapters_available": ["recovery-r16"], "adapter": "recovery-r16"}}


def highlighted(driver: Driver) -> str:
    view = driver.app.screen.query_one(MenuList)
    option = view.highlighted_option
    return str(option.prompt) if option else ""


async def test_choosing_an_adapter_loads_again_and_marks_it(home: Path) -> None:
    async with opened(home, TWO_ADAPTERS) as driver:
        await driver.ready()
        await driver.pilot.press("ctrl+o")
        await driver.on_screen(ModelsScreen)
        await driver.until(lambda: highlighted(driver))
        while "none" not in highlighted(driver):
            await driver.pilot.press("down")
        await driver.pilot.press("enter")
        await driver.until(lambda: driver.chat.link.info and driver.chat.link.info.adapter == "none")
        await driver.ready()
        assert await driver.ask("With the base alone?") == "One two three."
        last = driver.chat.conversation.last
        assert last and last.attribution and last.attribution.adapter == "none"


async def test_a_setting_changed_by_keys_takes_effect_and_is_written(home: Path) -> None:
    async with opened(home) as driver:
        await driver.pilot.press("f2")
        await driver.on_screen(SettingsScreen)
        screen = driver.app.screen
        await driver.until(lambda: screen.query(Checkbox))
        screen.query(Checkbox).first().focus()
        await driver.pilot.press("space")
        await driver.until(lambda: driver.app.settings.look.panel is False)
        field = next(row for row in screen.query(Input) if row.placeholder == "from the checkpoint")
        field.focus()
        await driver.pilot.press("9")
        assert driver.app.settings.sampling.temperature is None, "9 is out of bounds and must not be taken"
        await driver.pilot.press("backspace", "0", ".", "5")
        await driver.until(lambda: driver.app.settings.sampling.temperature == 0.5)
        await driver.pilot.press("escape")
        assert not driver.app.chat.query_one("#panel-scroll").display
    reading = settings_file.read(home / "config" / "settings.toml")
    assert reading.errors == []
    assert (reading.settings.look.panel, reading.settings.sampling.temperature) == (False, 0.5)


async def test_settings_are_found_by_words_of_title_help_and_section(home: Path) -> None:
    async with opened(home) as driver:
        await driver.pilot.press("f2")
        await driver.on_screen(SettingsScreen)
        await driver.until(lambda: driver.app.screen.query(SettingRow))
        every = len(driver.app.screen.query(SettingRow))
        assert every == len(list(keys()))
        await driver.pilot.press(*"likeliest")

        def found() -> set[str]:
            return {row.key.name for row in driver.app.screen.query(SettingRow) if row.region.height}

        await driver.until(lambda: found() == {"temperature", "top_k", "min_p"})
        await driver.pilot.press("space", *"choose")
        await driver.until(lambda: found() == {"top_k"})
        await driver.pilot.press(*"xyz")
        await driver.until(lambda: not found())
        note = driver.app.screen.query_one("#settings-note", Static)
        assert "No setting has these words" in str(note.content)


async def test_a_settings_file_with_errors_is_reported_and_left(home: Path) -> None:
    file = home / "config" / "settings.toml"
    file.parent.mkdir()
    file.write_text('[sampling]\ntemperature = "hot"\n')
    async with opened(home) as driver:
        await driver.until(lambda: "sampling.temperature: 'hot' is not a number" in driver.banner)
        await driver.pilot.press("f2")
        await driver.on_screen(SettingsScreen)
        await driver.until(lambda: driver.app.screen.query(Checkbox))
        driver.app.screen.query(Checkbox).first().focus()
        await driver.pilot.press("space")
        await driver.until(lambda: driver.app.settings.look.panel is False)
    assert file.read_text() == '[sampling]\ntemperature = "hot"\n'


async def test_themes_are_shown_while_looking_kept_by_enter_and_undone_by_escape(home: Path) -> None:
    async with opened(home) as driver:
        before = driver.app.theme
        driver.app.action_theme()
        await driver.on_screen(ThemesScreen)
        await driver.until(lambda: highlighted(driver))
        await driver.pilot.press("up")
        await driver.until(lambda: driver.app.theme != before)
        await driver.pilot.press("escape")
        await driver.until(lambda: driver.app.theme == before)
        driver.app.action_theme()
        await driver.on_screen(ThemesScreen)
        await driver.until(lambda: highlighted(driver))
        await driver.pilot.press("up")
        await driver.until(lambda: driver.app.theme != before)
        chosen = driver.app.theme
        await driver.pilot.press("enter")
        await driver.until(lambda: driver.app.settings.look.theme == chosen)
    assert settings_file.read(home / "config" / "settings.toml").settings.look.theme == chosen


async def test_help_lists_every_key_and_figure_and_the_log_its_file(home: Path) -> None:
    async with opened(home) as driver:
        await driver.ready()
        await driver.pilot.press("f1")
        await driver.on_screen(HelpScreen)
        await driver.until(lambda: driver.app.screen.query(Definitions))
        text = "\n".join(str(part.content) for part in driver.app.screen.query(Definitions))
        assert "^o" in text and "read amplification" in text and "Bytes the KV cache grows by" in text
        unwrapped = " ".join(text.split())
        assert [action.id for action in ACTIONS if action.help not in unwrapped] == []
        await driver.pilot.press("escape", "ctrl+l")
        await driver.on_screen(LogScreen)
        await driver.until(lambda: driver.app.screen.query(Log))
        await driver.pilot.press("escape")
        await driver.until(lambda: driver.app.screen is driver.app.chat)


def test_the_tail_of_a_log_is_plain_text(tmp_path: Path) -> None:
    log = tmp_path / "engine.log"
    log.write_bytes(b"\x1b[31mred\x1b[0m [b]not markup[/b]\x07\nlast \xff line\n")
    assert tail(log) == ["red [b]not markup[/b]", "last � line"]
    assert "No such file" in tail(tmp_path / "nothing")[0]


async def test_without_colour_text_and_the_chosen_line_can_still_be_told_apart(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with opened(home, TWO_ADAPTERS) as driver:
        await driver.ready()
        await driver.pilot.press("ctrl+o")
        await driver.on_screen(ModelsScreen)
        await driver.until(lambda: highlighted(driver))
        strip = driver.app.screen.query_one(MenuList).render_line(1)
        shown = [style for _, style, _ in NoColor().apply(list(strip), Color(0, 0, 0)) if style]
        assert any(style.underline for style in shown)
        assert all(style.color is None or style.color.is_default for style in shown)
        assert any(isinstance(item, NoColor) for item in driver.app._filters)
        assert not any(isinstance(item, Monochrome) for item in driver.app._filters)
