"""Keys that mean several things, and the palette."""

from __future__ import annotations

from pathlib import Path

from textual.command import CommandPalette

from edge0_tui.screens.help import HelpScreen
from edge0_tui.screens.settings import SettingsScreen
from tests.edge0_tui.screens.driver import LONG, opened


async def test_ctrl_c_copies_a_selection_else_stops_and_twice_leaves(home: Path) -> None:
    async with opened(home, {"replies": [LONG]}) as driver:
        await driver.ready()
        driver.prompt.insert("copy me")
        driver.prompt.select_all()
        await driver.pilot.press("ctrl+c")
        await driver.until(lambda: "7 characters copied" in driver.banner)
        assert driver.app.clipboard == "copy me"
        await driver.pilot.press("enter")
        await driver.until(lambda: driver.chat.reply and driver.chat.reply.counters.completion_tokens > 2)
        await driver.pilot.press("ctrl+c")
        await driver.until(lambda: driver.chat.reply is None)
        assert driver.app.is_running
        await driver.pilot.press("ctrl+c")
        assert "again" in driver.banner
        await driver.pilot.press("ctrl+c")
        await driver.until(lambda: not driver.app.is_running)


async def test_the_palette_finds_and_runs_an_action(home: Path) -> None:
    async with opened(home) as driver:
        await driver.ready()
        await driver.ask("Something")
        await driver.pilot.press("ctrl+p")
        await driver.on_screen(CommandPalette)
        await driver.pilot.press(*"new")
        await driver.pilot.press("c")
        await driver.until(lambda: driver.app.screen.query("CommandList").first().option_count)  # type: ignore[attr-defined]
        await driver.pilot.press("enter")
        await driver.until(lambda: not driver.chat.conversation.turns)


async def test_what_is_written_goes_to_the_prompt_whatever_has_the_focus(home: Path) -> None:
    async with opened(home) as driver:
        await driver.ready()
        await driver.ask("Something")
        driver.transcript.focus()
        await driver.until(lambda: driver.app.focused is driver.transcript)
        await driver.pilot.press("h", "i")
        assert driver.prompt.text == "hi" and driver.app.focused is driver.prompt


async def test_the_key_that_opened_a_screen_closes_it_and_another_takes_its_place(home: Path) -> None:
    async with opened(home) as driver:
        await driver.pilot.press("f1")
        await driver.on_screen(HelpScreen)
        await driver.pilot.press("f2")
        await driver.on_screen(SettingsScreen)
        assert len(driver.app.screen_stack) == 2
        await driver.pilot.press("f2")
        await driver.until(lambda: driver.app.screen is driver.app.chat)
