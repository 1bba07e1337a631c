"""Themes of the user's: in the list, on screen as soon as the file changes, and their mistakes in one message."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import OptionList, Static

from edge0_tui import themes
from edge0_tui.screens.themes import ThemesScreen
from tests.edge0_tui.screens.driver import Driver, opened

OURS = (themes.shipped_directory() / "tidepool.toml").read_text().replace('"tidepool"', '"mine"')


@pytest.fixture
def folder(home: Path) -> Path:
    folder = home / "config" / "themes"
    folder.mkdir(parents=True)
    (folder / "mine.toml").write_text(OURS)
    return folder


def use_mine(home: Path) -> None:
    (home / "config" / "settings.toml").write_text('[look]\ntheme = "mine"\n')


async def test_a_theme_is_drawn_anew_when_its_file_changes(home: Path, folder: Path) -> None:
    use_mine(home)
    async with opened(home) as driver:
        assert driver.app.theme == "mine" and driver.app.current_theme.primary == "#6fc3b0"
        await driver.ready()
        (folder / "mine.toml").write_text(OURS.replace("#6fc3b0", "#123456"))
        await driver.until(lambda: driver.app.theme_variables["primary"].lower() == "#123456")
        (folder / "mine.toml").write_text(OURS.replace("#6fc3b0", "greenish"))
        await driver.until(lambda: "colors.primary: 'greenish' is not a colour" in driver.banner)
        assert driver.app.theme == themes.DEFAULT, "what cannot be used is stood in for"
        (folder / "mine.toml").write_text(OURS)
        await driver.until(lambda: driver.app.theme == "mine" and not driver.banner)


async def test_the_picker_follows_the_folder_and_names_every_mistake(home: Path, folder: Path) -> None:
    async with opened(home) as driver:
        await driver.ready()
        driver.app.action_theme()
        await driver.on_screen(ThemesScreen)
        await driver.until(lambda: "mine" in names(driver))
        (folder / "more.toml").write_text(OURS.replace('"mine"', '"more"'))
        (folder / "bad.toml").write_text("[colors\n")
        (folder / "worse.toml").write_text('shine = 1\nname = "../x"\n')
        await driver.until(lambda: "more" in names(driver))
        note = str(driver.app.screen.query_one("#themes-note", Static).content)
        assert "bad.toml" in note and "worse.toml: name '../x'" in note and str(folder) in note
        (folder / "more.toml").unlink()
        await driver.until(lambda: "more" not in names(driver))


async def test_a_copy_of_ours_is_a_start_and_nothing_is_written_over(home: Path) -> None:
    async with opened(home) as driver:
        await driver.ready()
        driver.app.action_theme()
        await driver.on_screen(ThemesScreen)
        await driver.until(lambda: "noon" in names(driver))
        driver.app.theme = "noon"
        await driver.pilot.press("c")
        await driver.until(lambda: "my-noon" in names(driver))
        copied = home / "config" / "themes" / "my-noon.toml"
        assert driver.app.themes.titles["my-noon"] == "My Noon (high contrast)"
        copied.write_text(copied.read_text() + "# mine\n")
        await driver.pilot.press("c")
        note = driver.app.screen.query_one("#themes-note", Static)
        await driver.until(lambda: "is there already" in str(note.content))
        assert copied.read_text().endswith("# mine\n")


def names(driver: Driver) -> list[str | None]:
    return [option.id for option in driver.app.screen.query_one(OptionList).options]


def test_one_theme_is_found_without_reading_the_others(home: Path, folder: Path) -> None:
    (folder / "tidepool.toml").write_text(OURS.replace('"mine"', '"tidepool"').replace("#6fc3b0", "#eeeeee"))
    found = themes.find("tidepool", folder)
    assert found and found.primary == "#eeeeee"
    ours = themes.find("noon", folder)
    assert ours and ours.name == "noon"
    assert themes.find("../secret", folder) is None and themes.find("none", folder) is None
