"""Waits for one key and gives it back, if the action can have it."""

from __future__ import annotations

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from edge0_tui.key_rules import refuse
from edge0_tui.keymap import Keymap
from edge0_tui.keys import Action, show_key


class PressKeyScreen(ModalScreen[str], inherit_bindings=False):
    """Without bindings, and with the application's held back (`Edge0App.check_action`): every key arrives here.

    A key that belongs to another action is asked for twice. Escape leaves, except for an action that may have it.
    """

    TAKES_EVERY_KEY = True
    CSS_PATH = ["dialog.tcss", "press_key.tcss"]

    def __init__(self, action: Action, keymap: Keymap) -> None:
        super().__init__()
        self._action, self._keymap = action, keymap
        self._asked = ""

    def compose(self) -> ComposeResult:
        with Vertical(classes="sheet"):
            yield Static(Content.styled(f"{self._action.label}: press the new key", "bold"), classes="sheet-title")
            yield Static("esc leaves it as it is", id="press-note", markup=False)

    def on_key(self, event: events.Key) -> None:
        event.stop()
        event.prevent_default()
        key = event.key
        if key == "escape" and "escape" not in self._action.keys:
            self.dismiss(None)
        elif why := refuse(key, self._action):
            self._say(f"{why[0].upper()}{why[1:]}. Another one, or esc.")
        elif (holder := self._keymap.holder(self._action.id, key)) and key != self._asked:
            self._asked = key
            self._say(f"{show_key(key)} is {holder.label}'s. Press it again to take it away from there.")
        else:
            self.dismiss(key)

    def on_click(self, event: events.Click) -> None:
        if event.widget is self:
            self.dismiss(None)

    def _say(self, text: str) -> None:
        self.query_one("#press-note", Static).update(text)
