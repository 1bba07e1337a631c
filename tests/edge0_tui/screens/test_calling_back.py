"""A terminal out of focus is told that an answer has ended."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual import events

from edge0_tui.attention import BELL
from edge0_tui.terminal_title import title_sequence
from tests.edge0_tui.screens.driver import SHORT, Driver, opened


def out_of_focus(driver: Driver) -> bool:
    driver.app.post_message(events.AppBlur())
    return not driver.app.app_focus


async def test_an_answer_that_ends_out_of_focus_rings(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "config").mkdir()
    (home / "config" / "settings.toml").write_text('[attention]\nwhen_answered = "bell"\nafter_seconds = 0\n')
    written: list[str] = []
    async with opened(home, {"replies": [SHORT, SHORT | {"text": "word " * 20, "pace": 0.1}]}) as driver:
        await driver.ready()
        monkeypatch.setattr(driver.app._driver, "write", written.append)
        await driver.ask("In focus")
        await driver.until(lambda: title_sequence("In focus") in written)
        assert BELL not in written
        await driver.send("Out of focus")
        await driver.until(lambda: out_of_focus(driver))
        await driver.until(lambda: len(driver.answers) == 2 and driver.chat.reply is None)
        assert BELL in written
