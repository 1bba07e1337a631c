"""Sizes: the panel, the status line, and a terminal too small for either."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from edge0_tui.widgets.header import HeaderLine
from edge0_tui.widgets.key_bar import KeyBar
from edge0_tui.widgets.panel import Panel
from edge0_tui.widgets.status_line import StatusLine
from tests.edge0_tui.screens.driver import Driver, opened


def shown(driver: Driver) -> tuple[bool, bool]:
    """Whether panel and status line are on screen."""
    chat = driver.app.chat
    return chat.query_one("#panel-scroll").display, chat.query_one(StatusLine).display


def is_shown(driver: Driver, expected: tuple[bool, bool]) -> bool:
    return shown(driver) == expected


async def test_the_panel_gives_way_to_one_line_and_that_to_nothing(home: Path) -> None:
    async with opened(home) as driver:
        for size, expected in (
            ((120, 40), (True, False)),
            ((100, 30), (True, False)),
            ((99, 30), (False, True)),
            ((60, 20), (False, True)),
            ((59, 20), (False, False)),
            ((200, 60), (True, False)),
        ):
            await driver.pilot.resize_terminal(*size)
            await driver.until(partial(is_shown, driver, expected))


async def test_twenty_by_five_is_usable_and_nothing_is_lost_on_the_way_back(home: Path) -> None:
    async with opened(home) as driver:
        await driver.ready()
        await driver.ask("Before")
        driver.prompt.insert("kept while resizing")
        await driver.pilot.resize_terminal(20, 5)
        await driver.until(lambda: not driver.app.chat.query_one(KeyBar).display)
        assert driver.prompt.region.height >= 1 and driver.prompt.region.bottom <= 5
        await driver.pilot.press("enter")
        await driver.until(lambda: len(driver.answers) == 2 and driver.chat.reply is None)
        await driver.pilot.resize_terminal(120, 40)
        await driver.until(lambda: shown(driver) == (True, False))
        assert len(driver.transcript.messages) == 4
        assert driver.app.chat.query_one(HeaderLine).display


async def test_f3_hides_the_panel_and_shows_it_where_there_is_barely_room(home: Path) -> None:
    async with opened(home) as driver:
        await driver.pilot.press("f3")
        assert shown(driver) == (False, True)
        await driver.pilot.press("f3")
        assert shown(driver) == (True, False)
        await driver.pilot.resize_terminal(80, 24)
        await driver.pilot.press("f3")
        await driver.until(lambda: shown(driver)[0])
        await driver.pilot.resize_terminal(60, 24)
        await driver.until(lambda: not shown(driver)[0])
        await driver.pilot.press("f3")
        assert "72 columns" in driver.banner


async def test_the_panel_shows_the_figures_of_the_reply(home: Path) -> None:
    async with opened(home) as driver:
        await driver.ready()
        await driver.ask("Figures, please")
        panel = driver.app.chat.query_one(Panel)

        def lines() -> list[str]:
            return panel.text.splitlines()

        await driver.until(lambda: any(line.startswith("tokens") and "7 / 4,096" in line for line in lines()))
        assert any(line.startswith("KV per token") and line.endswith("1,024 B    ") for line in lines())
        assert any(line.startswith("cached pages") and "–" in line for line in lines())
        rights = {len(line) for line in lines() if line.startswith(("allocator", "footprint", "TTFT"))}
        assert len(rights) == 1
