"""The terminal's window: named after the chat, and asking for its person when an answer has ended."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

from edge0_tui.attention import call
from edge0_tui.settings import Attention
from edge0_tui.terminal_title import title_sequence


def _nowhere(sequence: str) -> None:
    """For a screen without a terminal of ours."""


class Window:
    """`write` takes sequences that draw nothing."""

    def __init__(self, write: Callable[[str], None] = _nowhere) -> None:
        self._write = write
        self._title = ""
        self._asked = 0.0

    def show_title(self, chat: str, wanted: bool) -> None:
        """May be called often."""
        title = title_sequence(chat)
        if wanted and title != self._title:
            self._title = title
            self._write(title)

    def asked(self) -> None:
        """A reply begins."""
        self._asked = time.monotonic()

    def answered(self, model: str, chat: str, in_front: bool, wanted: Attention) -> None:
        """It has ended; whoever looks at another window is told if they want to be."""
        if not in_front and time.monotonic() - self._asked >= wanted.after_seconds:
            self._write(call(wanted.when_answered, chat, f"{model} has answered.", os.environ))
