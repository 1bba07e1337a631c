"""A few cards for whoever opens this for the first time. Writing ends them: the words go to the prompt."""

from __future__ import annotations

from collections.abc import Callable

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.widgets import Static

from edge0_tui.keymap import Keymap
from edge0_tui.screens.dialog import Dialog
from edge0_tui.tour_cards import cards
from edge0_tui.widgets.definitions import Definitions

_COLUMN = 18


class TourScreen(Dialog[bool]):
    """Answers True when it was followed to its end. `hand_on` takes what is written meanwhile."""

    CSS_PATH = ["dialog.tcss", "tour.tcss"]
    TITLE = "Welcome to edge0"
    KEYS = (("enter", "go on"), ("← →", "turn"), ("esc", "skip"))
    BINDINGS = [
        Binding("enter,right", "turn(1)", show=False),
        Binding("left,backspace", "turn(-1)", show=False),
        Binding("down", "scroll_card(1)", show=False),
        Binding("up", "scroll_card(-1)", show=False),
    ]

    def __init__(self, keymap: Keymap, hand_on: Callable[[events.Event], object]) -> None:
        super().__init__()
        self._cards = cards(keymap)
        self._hand_on = hand_on
        self.at = 0
        self._left = False

    def body(self) -> ComposeResult:
        for number, card in enumerate(self._cards):
            with VerticalScroll(id=f"card-{number}", classes="tour-card", can_focus=False):
                yield Static(card.title, classes="tour-title", markup=False)
                for paragraph in card.paragraphs:
                    yield Static(paragraph, classes="tour-text", markup=False)
                if card.pairs:
                    yield Definitions(list(card.pairs), _COLUMN)
        yield Static("", id="tour-at", markup=False)

    def on_mount(self) -> None:
        self._show()

    def action_turn(self, step: int) -> None:
        """To the next card or the one before; after the last one the chat begins."""
        if self.at + step == len(self._cards):
            self._leave(True)
        elif not self._left:
            self.at = max(0, self.at + step)
            self._show()

    def action_scroll_card(self, step: int) -> None:
        """For cards that a low terminal does not hold."""
        self.query_one(f"#card-{self.at}").scroll_relative(y=step, animate=False)

    def action_close(self) -> None:
        self._leave(False)

    def on_key(self, event: events.Key) -> None:
        """Keys come faster than the screen goes; until it has gone all of them are handed on from here."""
        if self._left or event.is_printable:
            event.stop()
            self._hand_on(events.Key(event.key, event.character))
            self._leave(False)

    def on_paste(self, event: events.Paste) -> None:
        event.stop()
        self._hand_on(events.Paste(event.text))
        self._leave(False)

    def on_click(self, event: events.Click) -> None:
        """On the card to the next one, beside it out."""
        sheet = self.query_one(".sheet")
        if sheet.region.contains(event.screen_x, event.screen_y):
            self.action_turn(1)
        else:
            self._leave(False)

    def _show(self) -> None:
        for number in range(len(self._cards)):
            self.query_one(f"#card-{number}").display = number == self.at
        dots = " ".join("●" if number == self.at else "○" for number in range(len(self._cards)))
        self.query_one("#tour-at", Static).update(f"{dots}   or just write your first message")

    def _leave(self, followed: bool) -> None:
        """Keys that come before the screen has gone find it left already."""
        if not self._left:
            self._left = True
            self.dismiss(followed)
