"""The prompt alone, in a small host."""

from __future__ import annotations

from textual import events
from textual._xterm_parser import XTermParser
from textual.app import App, ComposeResult

from edge0_tui.terminal_keys import know_alt_enter
from edge0_tui.widgets.prompt import Prompt


class Host(App[None]):
    """Collects what is sent."""

    def __init__(self, enter_sends: bool = True) -> None:
        super().__init__()
        self._enter_sends = enter_sends
        self.sent: list[str] = []

    def compose(self) -> ComposeResult:
        yield Prompt(enter_sends=self._enter_sends)

    def on_prompt_sent(self, event: Prompt.Sent) -> None:
        self.sent.append(event.text)


async def test_enter_sends_and_the_other_keys_begin_a_line() -> None:
    app = Host()
    async with app.run_test() as pilot:
        await pilot.press("a", "ctrl+j", "b", "shift+enter", "c", "alt+enter", "d", "enter")
        assert app.sent == ["a\nb\nc\nd"]
        assert app.query_one(Prompt).text == ""
        await pilot.press("enter", "space", "enter")
        assert len(app.sent) == 1


async def test_enter_and_new_line_change_places_on_request() -> None:
    app = Host(enter_sends=False)
    async with app.run_test() as pilot:
        await pilot.press("a", "enter", "b", "ctrl+j")
        assert app.sent == ["a\nb"]


async def test_history_in_an_empty_prompt_and_not_in_one_with_text() -> None:
    app = Host()
    async with app.run_test() as pilot:
        prompt = app.query_one(Prompt)
        prompt.remember(["first", "two\nlines"])
        await pilot.press("up")
        assert prompt.text == "two\nlines"
        await pilot.press("up")
        assert prompt.text == "two\nlines", "inside an entry of several lines the cursor moves first"
        await pilot.press("up")
        assert prompt.text == "first"
        await pilot.press("down", "down", "down")
        assert prompt.text == ""
        await pilot.press("x", "up")
        assert prompt.text == "x"


def test_alt_enter_is_told_apart_in_terminals_without_extended_keys() -> None:
    know_alt_enter()
    parsed = [event.key for event in XTermParser().feed("\x1b\r\r") if isinstance(event, events.Key)]
    assert parsed == ["ctrl+j", "enter"]


async def test_a_large_paste_is_sent_whole() -> None:
    app = Host()
    async with app.run_test() as pilot:
        text = "\n".join(f"line {number} of a long paste" for number in range(3000))
        prompt = app.query_one(Prompt)
        prompt.insert(text)
        await pilot.press("enter")
        assert app.sent == [text]
