"""The transcript in a tiny host application: messages first, then what is on screen."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from textual._compositor import Compositor, ReflowResult
from textual.app import App, ComposeResult
from textual.geometry import Offset, Size
from textual.message import Message
from textual.pilot import Pilot
from textual.selection import Selection
from textual.widget import Widget

from edge0_tui.chat.turn import Attribution, Turn
from edge0_tui.widgets.message_reply import ReplyMessage
from edge0_tui.widgets.transcript import PAGE, Transcript
from engine.protocol import Piece


class Host(App[None]):
    def __init__(self) -> None:
        super().__init__()
        self.heard: list[Message] = []

    def compose(self) -> ComposeResult:
        yield Transcript()

    def on_transcript_link_clicked(self, event: Transcript.LinkClicked) -> None:
        self.heard.append(event)

    def on_transcript_copy_requested(self, event: Transcript.CopyRequested) -> None:
        self.heard.append(event)

    @property
    def transcript(self) -> Transcript:
        return self.query_one(Transcript)


def rows(app: App[None]) -> list[str]:
    """The screen as text."""
    lines = app.screen._compositor.render_strips()
    return ["".join(segment.text for segment in line).rstrip() for line in lines]


def place(app: App[None], text: str) -> Offset:
    """Where a text stands on screen."""
    for y, row in enumerate(rows(app)):
        if text in row:
            return Offset(row.index(text), y)
    raise AssertionError(f"{text!r} is not on screen:\n" + "\n".join(rows(app)))


async def until(pilot: Pilot[None], true: Callable[[], bool]) -> None:
    for _ in range(200):
        await pilot.pause()
        if true():
            return
    raise AssertionError("did not happen:\n" + "\n".join(rows(pilot.app)))


def has(app: App[None], text: str) -> Callable[[], bool]:
    return lambda: any(text in row for row in rows(app))


def talk(number: int) -> list[Turn]:
    return [
        Turn("assistant" if index % 2 else "user", f"message {index}\n\n- with\n- a list", id=f"t{index}")
        for index in range(number)
    ]


def reply(app: Host) -> ReplyMessage:
    message = app.transcript.messages[-1]
    assert isinstance(message, ReplyMessage)
    return message


async def test_a_reply_from_question_to_figures() -> None:
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        app.transcript.add_user(Turn("user", "What *is* [bold]this[/]?"))
        app.transcript.begin_reply("r", "nano")
        app.transcript.append([Piece("thinking", "First\nsecond thought")], 4)
        await until(pilot, has(app, "second thought"))
        assert "▸ Thinking · 4 tokens" in "\n".join(rows(app))
        app.transcript.append([Piece("answer", "It is **a li"), Piece("answer", "st**:\n\n- one\n")])
        app.transcript.append([Piece("answer", "- two")])
        await until(pilot, has(app, "• two"))
        figures = Attribution(
            model="nano", routing="predicted", finish_reason="cancelled", tok_s=12.3, ttft_s=0.42,
            completion_tokens=9, thinking_tokens=5,
        )  # fmt: skip
        app.transcript.finish(figures)
        await until(pilot, has(app, "stopped · 12.3 tok/s · first token 0.42 s · 9 tokens"))
        screen = "\n".join(rows(app))
        assert "What *is* [bold]this[/]?" in screen
        assert "nano · predicted" in screen
        assert "▸ Thought · 5 tokens" in screen
        assert "It is a list:" in screen
        assert reply(app).text == "It is **a list**:\n\n- one\n- two"
        assert reply(app).thinking == "First\nsecond thought"


async def test_thinking_unfolds_by_key_and_by_click() -> None:
    app = Host()
    async with app.run_test(size=(60, 20)) as pilot:
        await app.transcript.load([Turn("assistant", "answer", "deep\n\nthought")])
        await until(pilot, has(app, "▸ Thought · 2 lines"))
        assert not has(app, "deep")()
        app.transcript.toggle_thinking()
        await until(pilot, has(app, "│ deep"))
        await pilot.click(offset=place(app, "▾ Thought"))
        await until(pilot, lambda: not has(app, "deep")())
        assert has(app, "answer")()


async def test_text_starts_at_the_top_and_follows_the_end_when_it_is_full() -> None:
    app = Host()
    async with app.run_test(size=(60, 12)) as pilot:
        app.transcript.begin_reply("r", "nano")
        app.transcript.append([Piece("answer", "start")])
        await until(pilot, has(app, "start"))
        top = place(app, "start").y
        app.transcript.append([Piece("answer", "\n\nmore")])
        await until(pilot, has(app, "more"))
        assert place(app, "start").y == top
        app.transcript.append([Piece("answer", "".join(f"\n\nline {n}" for n in range(20)))])
        await until(pilot, has(app, "line 19"))
        assert not has(app, "start")()


async def test_the_view_stays_where_the_reader_put_it_and_returns_at_the_end() -> None:
    app = Host()
    async with app.run_test(size=(60, 12)) as pilot:
        transcript = app.transcript
        await transcript.load(talk(10))
        transcript.begin_reply("r", "nano")
        transcript.append([Piece("answer", "growing")])
        await until(pilot, has(app, "growing"))
        transcript.scroll_relative(y=-6, animate=False)
        await pilot.pause()
        before = transcript.scroll_y
        transcript.append([Piece("answer", "".join(f"\n\nline {n}" for n in range(9)))])
        await until(pilot, lambda: "line 8" in reply(app).text)
        assert transcript.scroll_y == before
        assert not has(app, "line 8")()
        transcript.scroll_end(animate=False)
        await until(pilot, has(app, "line 8"))
        transcript.append([Piece("answer", "\n\nlast")])
        await until(pilot, has(app, "last"))


async def test_a_long_chat_opens_at_its_end_and_fetches_what_is_scrolled_to() -> None:
    app = Host()
    async with app.run_test(size=(60, 20)) as pilot:
        transcript = app.transcript
        await transcript.load(talk(PAGE + 15))
        await until(pilot, has(app, f"message {PAGE + 14}"))
        assert len(transcript.messages) == PAGE
        transcript.scroll_to(y=1, animate=False)
        await until(pilot, has(app, "message 15"))
        seen = place(app, "message 15").y
        await until(pilot, lambda: len(transcript.messages) == PAGE + 15)
        await until(pilot, lambda: transcript.scroll_y > 20)
        assert place(app, "message 15").y == seen
        assert [message.turn_id for message in transcript.messages] == [f"t{n}" for n in range(PAGE + 15)]
        transcript.scroll_home(animate=False)
        await until(pilot, has(app, "message 0"))
        assert not has(app, "earlier")()


async def test_loading_replaces_at_once_even_when_not_awaited() -> None:
    app = Host()
    async with app.run_test(size=(60, 20)) as pilot:
        app.transcript.load(talk(4))
        app.transcript.load([Turn("user", "other chat")])
        app.transcript.add_user(Turn("user", "and more"))
        await until(pilot, has(app, "and more"))
        await until(pilot, lambda: not has(app, "message")())
        assert has(app, "other chat")()
        await app.transcript.clear()
        await until(pilot, lambda: not any(rows(app)))


async def test_links_and_the_copy_key_are_messages() -> None:
    app = Host()
    async with app.run_test(size=(60, 20)) as pilot:
        text = "see [the docs](https://example.org/x)\n\n- in a list:\n  ```py\n  x = 1\n  ```\n"
        await app.transcript.load([Turn("assistant", text)])
        await until(pilot, has(app, "copy"))
        await pilot.click(offset=place(app, "the docs"))
        await pilot.click(offset=place(app, "copy"))
        await until(pilot, lambda: len(app.heard) == 2)
        link, copy = app.heard
        assert isinstance(link, Transcript.LinkClicked) and link.href == "https://example.org/x"
        assert isinstance(copy, Transcript.CopyRequested) and (copy.text, copy.what) == ("x = 1", "code")


async def test_a_selection_is_the_text_and_not_its_decoration() -> None:
    app = Host()
    async with app.run_test(size=(24, 20)) as pilot:
        await app.transcript.load([Turn("assistant", "- one two three four five six\n- seven\n\n> quoted")])
        await until(pilot, has(app, "quoted"))
        assert reply(app).get_selection(Selection(None, None)) == (
            "one two three four five six\nseven\n\nquoted",
            "\n",
        )
        start = place(app, "two")
        await pilot.mouse_down(offset=start)
        end = place(app, "seven") + Offset(5, 0)
        await pilot.hover(offset=end)
        await pilot.mouse_up(offset=end)
        assert app.screen.get_selected_text() == "two three four five six\nseven"


@pytest.mark.parametrize("size", [(20, 5), (60, 20), (240, 60)])
async def test_every_size_shows_the_end_and_nothing_beyond_the_edge(size: tuple[int, int]) -> None:
    app = Host()
    async with app.run_test(size=(120, 40)) as pilot:
        table = "| a | b |\n|---|---|\n| some words | more words here |\n"
        await app.transcript.load(
            [Turn("user", "q " * 80), Turn("assistant", f"{table}\n```py\n{'x' * 200}\n```\nend.")]
        )
        await pilot.resize_terminal(*size)
        await until(pilot, has(app, "end."))
        await pilot.resize_terminal(120, 40)
        await until(pilot, has(app, "more words here"))
        assert max(message.size.width for message in app.transcript.messages) <= 100


async def test_focus_of_the_terminal_does_not_touch_the_messages() -> None:
    app = Host()
    async with app.run_test(size=(60, 20)) as pilot:
        await app.transcript.load(talk(6))
        await pilot.pause()
        restyled: list[object] = []
        update = app.stylesheet.update_nodes
        app.stylesheet.update_nodes = lambda nodes, animate=False: restyled.extend(nodes)  # type: ignore[method-assign]
        app.transcript.update_node_styles()
        app.transcript.blur()
        app.transcript.focus()
        await pilot.pause()
        app.stylesheet.update_nodes = update  # type: ignore[method-assign]
        assert app.transcript in restyled
        assert not set(restyled) & set(app.transcript.messages)


async def test_a_theme_repaints_what_was_painted() -> None:
    app = Host()
    async with app.run_test(size=(60, 20)) as pilot:
        await app.transcript.load([Turn("assistant", "`code` and [link](https://example.org)")])
        await until(pilot, has(app, "code and link"))

        def colours() -> set[str]:
            return {str(segment.style.color) for segment in reply(app).render_line(1) if segment.style}

        before = colours()
        app.theme = "textual-light"
        await until(pilot, lambda: not colours() & before)


async def test_only_what_changed_is_painted_again() -> None:
    app = Host()
    async with app.run_test(size=(60, 30)) as pilot:
        app.transcript.begin_reply("r", "nano")
        app.transcript.append([Piece("answer", "first\n\nsecond\n\n- a\n- b\n- c")])
        await until(pilot, has(app, "• c"))
        entries = reply(app).sections[1].entries
        app.transcript.append([Piece("answer", "d\n- e")])
        await until(pilot, has(app, "• e"))
        after = reply(app).sections[1].entries
        assert [old is new for old, new in zip(entries, after, strict=False)] == [True] * 4 + [False]


async def test_a_growing_reply_is_laid_out_once_for_every_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    app, count = Host(), 0
    reflow = Compositor.reflow

    def counted(self: Compositor, parent: Widget, size: Size) -> ReflowResult:
        nonlocal count
        count += 1
        return reflow(self, parent, size)

    async with app.run_test(size=(60, 12)) as pilot:
        app.transcript.load(talk(6))
        app.transcript.begin_reply("r", "nano")
        app.transcript.append([Piece("answer", "first")])
        await until(pilot, has(app, "first"))
        await pilot.pause(0.3)
        monkeypatch.setattr(Compositor, "reflow", counted)
        for number in range(5):
            app.transcript.append([Piece("answer", f"\n\nline {number}")])
            await until(pilot, has(app, f"line {number}"))
            await pilot.pause(0.2)
        assert count == 5


STEPS = [
    "# One",
    " two\n\n| a | b |\n|---|---|\n| 1",
    " | 2 |\n",
    "| long cell ",
    "here | 3 |\n\n- x",
    "\n- y\n\n```py\na = 1",
    "\n```\nend",
]


@pytest.mark.parametrize("size", [(60, 30), (40, 8)])
async def test_what_has_grown_looks_like_what_was_loaded(size: tuple[int, int]) -> None:
    """Rows that are kept while a message grows are the rows it would have."""
    grown, loaded = Host(), Host()
    async with grown.run_test(size=size) as pilot:
        grown.transcript.begin_reply("r", "answer")
        for step in STEPS:
            grown.transcript.append([Piece("answer", step)])
            grown.transcript.flush()
            await pilot.pause()
            rows(grown)
        grown.transcript.finish(None)
        await until(pilot, has(grown, "end"))
        seen = rows(grown)
        await pilot.resize_terminal(size[0] - 5, size[1])
        await pilot.resize_terminal(*size)
        await until(pilot, lambda: rows(grown) == seen)
    async with loaded.run_test(size=size) as pilot:
        await loaded.transcript.load([Turn("assistant", "".join(STEPS))])
        await until(pilot, has(loaded, "end"))
        await until(pilot, lambda: rows(loaded) == seen)


async def test_another_branch_touches_no_message_that_stays() -> None:
    app = Host()
    async with app.run_test(size=(60, 20)) as pilot:
        path = talk(6)
        await app.transcript.load(path)
        kept = app.transcript.messages[:4]
        other = Turn("user", "elsewhere", id="other")
        await app.transcript.show_path([*path[:4], other], {"other": (2, 2)})
        await until(pilot, has(app, "‹2/2›"))
        assert app.transcript.messages[:4] == kept
        assert [message.turn_id for message in app.transcript.messages[4:]] == ["other"]
        await app.transcript.show_path(path, {"t4": (1, 2)})
        await until(pilot, has(app, "‹1/2›"))
        assert app.transcript.messages[:4] == kept and not has(app, "elsewhere")()


async def test_walking_goes_on_above_the_page_that_is_mounted() -> None:
    app = Host()
    async with app.run_test(size=(60, 20)) as pilot:
        await app.transcript.load(talk(PAGE + 3))
        for _ in range(PAGE + 1):
            await app.transcript.walk(-1)
        await pilot.pause()
        chosen = app.transcript.chosen
        assert chosen is not None and chosen.turn_id == "t2"
        await until(pilot, has(app, "message 2"))
        await app.transcript.walk(1)
        assert app.transcript.chosen is not chosen and app.transcript.chosen is not None
        assert app.transcript.chosen.turn_id == "t3"
        assert app.transcript.leave() and not app.transcript.leave()
