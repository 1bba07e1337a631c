"""Two answers to one question: side by side where the terminal is wide, else one below the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Container

from edge0_tui.widgets.message_reply import ReplyMessage

SIDE_BY_SIDE_FROM = 140
"""Columns of the terminal."""


class ReplyPair(Container):
    """Holds the messages; which of them is on the path is shown by the first column's mark."""

    DEFAULT_CSS: ClassVar[str] = """
    ReplyPair {
        height: auto;
        width: 1fr;
        max-width: 100;
        margin: 0 0 1 0;
        layout: vertical;
        & > ReplyMessage { width: 1fr; margin: 0 0 1 0; border-left: outer $foreground 15%; padding: 0 2 0 1; }
        & > ReplyMessage.-on-path { border-left: outer $primary; }
        & > ReplyMessage.-chosen { border-left: outer $accent; }
        &.-wide { layout: horizontal; max-width: 200; }
        &.-wide > ReplyMessage { margin: 0; }
    }
    """

    def __init__(self, replies: Sequence[ReplyMessage], on_path: ReplyMessage) -> None:
        super().__init__()
        self.replies = tuple(replies)
        self.on_path = on_path
        for reply in replies:
            reply.row = self
            reply.compare()
            reply.set_class(reply is on_path, "-on-path")

    def compose(self) -> ComposeResult:
        yield from self.replies

    def on_mount(self) -> None:
        self.set_class(self.app.size.width >= SIDE_BY_SIDE_FROM, "-wide")

    def on_resize(self) -> None:
        self.set_class(self.app.size.width >= SIDE_BY_SIDE_FROM, "-wide")
