"""What all secondary screens share: a titled sheet over the chat that escape closes."""

from __future__ import annotations

from typing import ClassVar, TypeVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.types import CSSPathType
from textual.widgets import Static

from edge0_tui.keymap import keymap_of
from edge0_tui.keys import bindings

Result = TypeVar("Result")


class Dialog(ModalScreen[Result]):
    """Subclasses give `TITLE` (or `heading`, where it differs), `KEYS` (pairs of key and word) and `body`.

    A key of `KEYS` that can be changed is written as the texts of notices have it, `{key:use}`.
    """

    CSS_PATH: ClassVar[CSSPathType | None] = "dialog.tcss"
    TITLE = ""
    KEYS: ClassVar[tuple[tuple[str, str], ...]] = (("esc", "close"),)
    # A modal screen hides the application's bindings, so they are repeated here.
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "close", "Close", show=False),
        *bindings("app", "app."),
    ]

    def __init__(self) -> None:
        super().__init__()
        self.heading = self.TITLE or ""

    def compose(self) -> ComposeResult:
        with Vertical(classes="sheet"):
            yield Static(Content.styled(self.heading, "bold"), classes="sheet-title")
            yield from self.body()
            say = keymap_of(self.app).say
            keys = tuple((say(key), word) for key, word in self.KEYS)
            yield Static(key_line(keys), classes="sheet-keys")

    def body(self) -> ComposeResult:
        """The widgets between title and keys."""
        raise NotImplementedError

    def action_close(self) -> None:
        self.dismiss(None)


def key_line(keys: tuple[tuple[str, str], ...]) -> Content:
    """`esc close   enter choose`, coloured as in the key bar."""
    parts = [Content.assemble((key, "$primary bold"), (f" {word}", "$text-muted")) for key, word in keys]
    return Content("   ").join(parts)
