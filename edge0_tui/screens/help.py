"""Keys and what each figure means, both straight from their registries."""

from __future__ import annotations

from itertools import groupby

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Static

from edge0_tui.keymap import Keymap
from edge0_tui.keys import ACTIONS, show_key
from edge0_tui.quantities import QUANTITIES
from edge0_tui.screens.dialog import Dialog
from edge0_tui.widgets.definitions import Definitions
from edge0_tui.writing.slash import in_prompt

_COLUMN = 22


class HelpScreen(Dialog[None]):
    """Two lists, to be read with the arrow keys."""

    CSS_PATH = ["dialog.tcss", "help.tcss"]
    TITLE = "Help"
    KEYS = (("↑ ↓", "scroll"), ("esc", "close"))

    def __init__(self, keymap: Keymap) -> None:
        super().__init__()
        self._keymap = keymap

    def body(self) -> ComposeResult:
        with VerticalScroll(id="help-text"):
            for group in dict.fromkeys(action.group for action in ACTIONS):
                yield Static(group, classes="help-heading", markup=False)
                actions = [action for action in ACTIONS if action.group == group]
                yield Definitions(
                    [(_keys(self._keymap.keys(action.id)), action.help) for action in actions], _COLUMN
                )
            yield Static("In the prompt", classes="help-heading", markup=False)
            yield Definitions(in_prompt(), _COLUMN)
            yield Static("The figures", classes="help-heading", markup=False)
            for section, quantities in groupby(QUANTITIES, lambda quantity: quantity.section):
                yield Static(section, classes="help-section", markup=False)
                yield Definitions([(quantity.label, quantity.meaning) for quantity in quantities], _COLUMN)

    def on_mount(self) -> None:
        self.query_one("#help-text").focus()


def _keys(keys: tuple[str, ...]) -> str:
    return "  ".join(show_key(key) for key in keys[:2]) or "in the palette"
