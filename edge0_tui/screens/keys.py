"""Every action with its keys; enter takes a new one for the action under the cursor, as it is pressed."""

from __future__ import annotations

from collections.abc import Callable

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.widgets import OptionList, Static

from edge0_tui.keymap import Keymap
from edge0_tui.keys import ACTIONS, BY_ID, show_key
from edge0_tui.screens.dialog import Dialog
from edge0_tui.screens.press_key import PressKeyScreen
from edge0_tui.widgets.menu_list import MenuList

_SAME = "ctrl+i, ctrl+m, ctrl+h and ctrl+[ arrive as tab, enter, backspace and esc and cannot be told apart."


class KeysScreen(Dialog[None]):
    """`changed` is given each new `Keymap`; it answers with what a person should know, or nothing."""

    CSS_PATH = ["dialog.tcss", "keys.tcss"]
    TITLE = "Keys"
    KEYS = (
        ("enter", "change"),
        ("a", "add"),
        ("del", "none"),
        ("r", "usual"),
        ("R", "all usual"),
        ("esc", "close"),
    )
    BINDINGS = [
        Binding("a", "add", show=False),
        Binding("delete,backspace", "clear", show=False),
        Binding("r", "reset", show=False),
        Binding("R", "reset_all", show=False),
    ]

    def __init__(self, keymap: Keymap, changed: Callable[[Keymap], str], problems: tuple[str, ...]) -> None:
        super().__init__()
        self._keymap, self._changed = keymap, changed
        self._note = f"keymap.toml: {' · '.join(problems)}" if problems else _SAME

    def body(self) -> ComposeResult:
        yield MenuList(id="keys-list")
        yield Static("", id="keys-note", markup=False)

    def on_mount(self) -> None:
        self._fill()
        self._say(self._note)
        self.query_one(MenuList).focus()

    def _fill(self, at: str | None = None) -> None:
        view = self.query_one(MenuList)
        view.clear_options()
        for group in dict.fromkeys(action.group for action in ACTIONS):
            view.add_heading(group)
            for action in (action for action in ACTIONS if action.group == group):
                shown = "  ".join(show_key(key) for key in self._keymap.keys(action.id)) or "–"
                usual = "" if action.id not in self._keymap.changed else "   changed"
                view.add_line(action.label, shown + usual, id=action.id)
        view.go_to_first(at)

    def _say(self, text: str) -> None:
        self.query_one("#keys-note", Static).update(text)

    @property
    def _chosen(self) -> str | None:
        view = self.query_one(MenuList)
        return None if view.highlighted is None else view.get_option_at_index(view.highlighted).id

    @on(OptionList.OptionSelected)
    def _replace(self) -> None:
        self._ask(())

    def action_add(self) -> None:
        if self._chosen:
            self._ask(self._keymap.keys(self._chosen))

    def _ask(self, kept: tuple[str, ...]) -> None:
        """Take the next key for the action under the cursor, beside those that are `kept`."""
        id = self._chosen
        if id is None:
            return
        if BY_ID[id].fixed:
            self._say(f"{BY_ID[id].label}: {BY_ID[id].fixed}.")
            return

        def take(key: str | None) -> None:
            if key is not None:
                self._give(id, key, kept)

        self.app.push_screen(PressKeyScreen(BY_ID[id], self._keymap), take)

    def _give(self, id: str, key: str, kept: tuple[str, ...]) -> None:
        keymap = self._keymap
        holder = keymap.holder(id, key)
        if holder is not None:
            keymap = keymap.having(holder.id, tuple(other for other in keymap.keys(holder.id) if other != key))
        keymap = keymap.having(id, tuple(dict.fromkeys((*kept, key))))
        took = f" {holder.label} has it no longer." if holder else ""
        self._use(keymap, id, f"{BY_ID[id].label}: {show_key(key)}.{took}")

    def action_clear(self) -> None:
        id = self._chosen
        if id is None or BY_ID[id].fixed:
            return
        if id in ("stop", "send", "quit"):
            self._say(f"{BY_ID[id].label} must have a key.")
            return
        self._use(self._keymap.having(id, ()), id, f"{BY_ID[id].label} has no key; the palette has it.")

    def action_reset(self) -> None:
        if (id := self._chosen) is None:
            return
        usual = BY_ID[id].keys
        for key in usual:
            if holder := self._keymap.holder(id, key):
                self._say(f"{show_key(key)} belongs to {holder.label} now; change that first.")
                return
        self._use(self._keymap.having(id, usual), id, f"{BY_ID[id].label} has its usual keys.")

    def action_reset_all(self) -> None:
        self._use(Keymap(), self._chosen, "Every action has its usual keys.")

    def _use(self, keymap: Keymap, at: str | None, told: str) -> None:
        self._keymap = keymap
        problem = self._changed(keymap)
        self._fill(at)
        self._say(f"{told} {problem}".strip())
