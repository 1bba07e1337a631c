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


async def test_earlier_prompts_from_the_edges_and_what_was_being_written_comes_back() -> None:
    app = Host()
    async with app.run_test() as pilot:
        prompt = app.query_one(Prompt)
        prompt.remember(["first", "two\nlines"])
        await pilot.press("up")
        assert (prompt.text, prompt.cursor_location) == ("two\nlines", (0, 0))
        await pilot.press("up")
        assert prompt.text == "first"
        await pilot.press("up")
        assert prompt.text == "first", "there is nothing earlier"
        await pilot.press("down", "down")
        assert prompt.text == ""
        await pilot.press("x", "ctrl+j", "y", "up")
        assert prompt.text == "x\ny", "within a text the cursor moves first"
        await pilot.press("up", "up")
        assert prompt.text == "two\nlines"
        await pilot.press("end", "z", "up", "up")
        assert prompt.text == "first", "a changed entry is left like any text"
        await pilot.press("down")
        assert prompt.text == "twoz\nlines"
        await pilot.press("down")
        assert prompt.text == "x\ny"


async def test_a_large_paste_is_folded_passed_and_removed_as_one_and_sent_whole() -> None:
    app = Host()
    long = "\n".join(f"line {number}" for number in range(240))
    async with app.run_test() as pilot:
        prompt = app.query_one(Prompt)
        prompt.focus()
        for _ in range(2):
            await pilot.press("a")
            app.post_message(events.Paste(long.replace("\n", "\r\n") + "\x1b[31m"))
            await pilot.pause()
            assert prompt.text == "a[pasted 240 lines]"
            await pilot.press("left", "left", "x", "right", "right", "b")
            assert prompt.text == "xa[pasted 240 lines]b"
            await pilot.press("backspace", "backspace")
            assert prompt.text == "xa"
            await pilot.press("backspace", "backspace")
        prompt.insert_folded(long)
        assert prompt.text == "[pasted 240 lines #2]", "not the same as what was pasted first"
        assert prompt.toggle_fold() and prompt.text == long
        assert prompt.toggle_fold() and prompt.text == "[pasted 240 lines #2]"
        await pilot.press("enter")
        assert app.sent == [long]
        await pilot.press("up")
        assert prompt.text == "[pasted 240 lines #2]" and prompt.whole == long


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


async def test_a_chip_is_copied_cut_and_removed_whole_whatever_reaches_into_it() -> None:
    app = Host()
    long = "\n".join(f"line {number}" for number in range(240))
    async with app.run_test() as pilot:
        prompt = app.query_one(Prompt)
        for keys in (("ctrl+w",), ("home", "right", "alt+delete"), ("shift+left", "delete")):
            prompt.put("")
            prompt.insert("a ")
            prompt.insert_folded(long)
            await pilot.press(*keys)
            assert "[" not in prompt.text and prompt.text.startswith("a"), keys
        prompt.put("")
        prompt.insert("a ")
        prompt.insert_folded(long)
        await pilot.press("shift+home")
        assert prompt.selected_text == f"a {long}"
        await pilot.press("ctrl+x")
        assert prompt.text == "" and app.clipboard == f"a {long}"
        await pilot.press("ctrl+v")
        assert prompt.text == "[pasted 240 lines #2]" and prompt.whole == f"a {long}"


async def test_an_undone_removal_brings_the_chip_back_with_its_text() -> None:
    app = Host()
    long = "\n".join(f"line {number}" for number in range(240))
    async with app.run_test() as pilot:
        prompt = app.query_one(Prompt)
        prompt.insert_folded(long)
        await pilot.press("backspace")
        assert prompt.text == ""
        await pilot.press("ctrl+z")
        assert prompt.text == "[pasted 240 lines]" and prompt.whole == long
