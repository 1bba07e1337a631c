"""The introduction: once, in few cards, out of the way of whoever writes, and back from the palette."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual import events

from edge0_tui.automatic import Automatic
from edge0_tui.keymap import Keymap
from edge0_tui.options import AppOptions
from edge0_tui.screens.models import ModelsScreen
from edge0_tui.screens.tour import TourScreen
from edge0_tui.tour_cards import cards
from edge0_tui.widgets.banner import Banner
from edge0_tui.widgets.empty_state import SUGGESTION
from edge0_tui.widgets.rows import Rows
from engine.checkpoint.synthetic import tiny, write_synthetic
from tests.edge0_tui.screens.driver import Driver, opened


def at(driver: Driver) -> int:
    screen = driver.app.screen
    assert isinstance(screen, TourScreen)
    return screen.at


async def test_it_comes_once_and_ends_in_a_chat(home: Path) -> None:
    async with opened(home, first=True) as driver:
        await driver.ready()
        await driver.on_screen(TourScreen)
        await driver.pilot.press("enter", "right", "left")
        assert at(driver) == 1
        await driver.pilot.press("enter", "enter")
        assert at(driver) == 3
        await driver.pilot.press("enter")
        await driver.until(lambda: driver.app.screen is driver.app.chat and driver.prompt.text == SUGGESTION)
        await driver.pilot.press("enter")
        await driver.until(lambda: driver.answers == ["One two three."])
    async with opened(home, first=True) as driver:
        await driver.ready()
        assert driver.app.screen is driver.app.chat


async def test_writing_ends_it_and_every_letter_reaches_the_prompt(home: Path) -> None:
    async with opened(home, first=True) as driver:
        await driver.on_screen(TourScreen)
        tour = driver.app.screen
        for key, character in (("H", "H"), ("i", "i"), ("space", " "), ("u", "u"), ("enter", "\r")):
            tour.post_message(events.Key(key, character))
        await driver.until(lambda: driver.app.screen is driver.app.chat)
        await driver.until(lambda: driver.answers and driver.chat.reply is None)
        assert driver.chat.conversation.path[0].text == "Hi u"


async def test_it_does_not_come_between_whoever_is_quicker(home: Path) -> None:
    async with opened(home, first=True) as driver:
        driver.prompt.insert("Quick")
        await driver.ready()
        assert driver.app.screen is driver.app.chat


async def test_escape_skips_it_and_the_palette_has_it(home: Path) -> None:
    async with opened(home, first=True) as driver:
        await driver.on_screen(TourScreen)
        await driver.pilot.press("escape")
        await driver.until(lambda: driver.app.screen is driver.app.chat)
        assert driver.prompt.text == ""
        driver.app.action_tour()
        await driver.on_screen(TourScreen)
        await driver.pilot.click(offset=(0, 0))
        await driver.until(lambda: driver.app.screen is driver.app.chat)


async def test_whoever_asks_for_a_chat_gets_that(home: Path) -> None:
    async with opened(home, first=True, options=AppOptions(continue_last=True)) as driver:
        await driver.ready()
        assert driver.app.screen is driver.app.chat


def test_the_cards_follow_the_keymap() -> None:
    keys = dict(cards(Keymap().having("models", ("ctrl+g",)).having("chats", ()))[3].pairs)
    assert "ctrl+g" in keys and "ctrl+o" not in keys and "palette" in keys
    assert any(
        "ctrl+g lists the models" in text for text in cards(Keymap().having("models", ("ctrl+g",)))[2].paragraphs
    )


async def test_why_a_tier_was_chosen_is_read_after_the_introduction(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_synthetic(home / "data" / "models" / "8b", tiny(), seed=0)
    chosen = Automatic(str(folder), "8b", "8B: needs 2.90 GiB of 5 GiB available now.")
    monkeypatch.setattr("edge0_tui.startup.automatic", lambda *_: chosen)
    monkeypatch.setattr("edge0_tui.widgets.banner._SECONDS", 0.2)
    async with opened(home, first=True) as driver:
        await driver.on_screen(TourScreen)
        await driver.ready()
        await driver.pilot.pause(0.5)
        banner = driver.app.chat.query_one(Banner)
        assert banner.notice is not None and chosen.reason in banner.notice.message, "nobody has read it yet"
        monkeypatch.setattr("edge0_tui.widgets.banner._SECONDS", 60)
        await driver.pilot.press("escape")
        await driver.until(lambda: driver.app.screen is driver.app.chat)
        assert banner.notice is not None and banner.display
        monkeypatch.setattr("edge0_tui.widgets.banner._SECONDS", 0.05)
        banner.in_view()
        await driver.until(lambda: banner.notice is None)
        await driver.pilot.press("ctrl+o")
        await driver.on_screen(ModelsScreen)
        screen = driver.app.screen
        await driver.until(lambda: "Chosen at the start: 8B" in "\n".join(rows.text for rows in screen.query(Rows)))
