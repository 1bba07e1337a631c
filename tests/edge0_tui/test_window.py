"""What is written to the terminal besides the picture: titles and calls, and nothing that could drive it."""

from __future__ import annotations

import pytest

from edge0_tui.attention import BELL, call
from edge0_tui.settings import Attention
from edge0_tui.terminal_title import title_sequence
from edge0_tui.window import Window


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({"TERM_PROGRAM": "iTerm.app"}, "\x1b]9;a,b: it is done\x1b\\"),
        ({"KITTY_WINDOW_ID": "1"}, "\x1b]9;a,b: it is done\x1b\\"),
        ({"TERM": "foot"}, "\x1b]777;notify;a,b;it is done\x1b\\"),
        ({"TERM": "xterm-256color"}, "\x1b]777;notify;a,b;it is done\x1b\\" + BELL),
        ({"TMUX": "x"}, "\x1bPtmux;\x1b\x1b]777;notify;a,b;it is done\x1b\x1b\\\x1b\\" + BELL),
    ],
)
def test_the_call_suits_the_terminal(environ: dict[str, str], expected: str) -> None:
    assert call("desktop", "a;\x1bb", "it\n is\a done", environ) == expected
    assert call("bell", "a", "b", environ) == BELL and call("off", "a", "b", environ) == ""


def test_a_title_is_one_line_without_anything_that_drives_the_terminal() -> None:
    assert title_sequence("") == "\x1b]2;edge0\x1b\\"
    assert title_sequence("What\n is\x1b[31m \x07this\x9c?\u202e") == "\x1b]2;What is[31m this? · edge0\x1b\\"
    assert len(title_sequence("x" * 10_000)) < 120


def test_the_window_is_named_once_and_calls_only_when_it_should() -> None:
    written: list[str] = []
    window = Window(written.append)
    window.show_title("One", wanted=False)
    window.show_title("One", wanted=True)
    window.show_title("One", wanted=True)
    assert written == [title_sequence("One")]
    window.asked()
    bell = Attention(when_answered="bell", after_seconds=0.0)
    window.answered("nano", "One", True, bell)
    window.answered("nano", "One", False, Attention(when_answered="bell", after_seconds=60.0))
    assert len(written) == 1
    window.answered("nano", "One", False, bell)
    assert written[1:] == [BELL]
