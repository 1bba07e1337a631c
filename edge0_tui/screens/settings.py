"""The settings, generated from their schema. Every valid change takes effect and is written at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import groupby
from typing import Any

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.widgets import Checkbox, Input, Select, Static

from edge0_tui.screens.dialog import Dialog
from edge0_tui.settings import Settings
from edge0_tui.settings_schema import Key, SettingError, keys
from edge0_tui.widgets.setting_row import SettingRow

_HELP_FROM = 96


class SettingsScreen(Dialog[None]):
    """`changed` is given each new `Settings`; it answers with what a person should know, or nothing."""

    CSS_PATH = ["dialog.tcss", "settings.tcss"]
    TITLE = "Settings"
    KEYS = (("write", "find"), ("tab", "next"), ("space", "switch"), ("esc", "close"))

    def __init__(
        self, settings: Settings, themes: Mapping[str, str], changed: Callable[[Settings], str], where: str
    ) -> None:
        super().__init__()
        self._settings, self._themes, self._changed, self._where = settings, themes, changed, where
        self._keys = {key.path: key for key in keys()}

    def body(self) -> ComposeResult:
        yield Input(placeholder="Find a setting", compact=True, id="settings-find")
        with VerticalScroll(id="settings-rows", can_focus=False):
            for title, group in groupby(self._keys.values(), lambda key: key.section_title):
                with Vertical(classes="settings-section"):
                    yield Static(title, classes="settings-heading", markup=False)
                    for key in group:
                        yield SettingRow(key, key.of(self._settings), self._themes)
        yield Static(self._where, id="settings-note", markup=False)

    def on_resize(self) -> None:
        self.set_class(self.app.size.width < _HELP_FROM, "-narrow")

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Where the rows have no room for it, the help of the one in use is at the bottom."""
        row = event.widget.parent
        if self.has_class("-narrow") and isinstance(row, SettingRow):
            self.query_one("#settings-note", Static).update(row.key.option.help)

    @on(Input.Changed, "#settings-find")
    def _find(self, event: Input.Changed) -> None:
        """Show the settings with all these words in section, title or help."""
        event.stop()
        words = event.value.casefold().split()
        found = 0
        for section in self.query(".settings-section"):
            rows = list(section.query(SettingRow))
            for row in rows:
                row.display = all(word in _words(row.key) for word in words)
            section.display = any(row.display for row in rows)
            found += sum(row.display for row in rows)
        self.query_one("#settings-note", Static).update(self._where if found else "No setting has these words.")

    @on(Checkbox.Changed)
    def _switched(self, event: Checkbox.Changed) -> None:
        self._set(_row(event.checkbox).key, event.value)

    @on(Select.Changed)
    def _selected(self, event: Select.Changed) -> None:
        self._set(_row(event.select).key, event.value)

    @on(Input.Changed, ".setting-control")
    def _typed(self, event: Input.Changed) -> None:
        row = _row(event.input)
        try:
            value = row.key.parse(event.value)
        except SettingError as error:
            row.show_error(str(error))
            return
        row.show_error("")
        self._set(row.key, value)

    def _set(self, key: Key, value: Any) -> None:
        if value == key.of(self._settings):
            return
        self._settings = key.replaced(self._settings, value)
        note = self._changed(self._settings)
        if key.option.restart and not note:
            note = "Takes effect at the next start."
        self.query_one("#settings-note", Static).update(note or self._where)


def _words(key: Key) -> str:
    return f"{key.section_title} {key.option.title} {key.option.help} {key.path}".casefold()


def _row(control: Checkbox | Select[Any] | Input) -> SettingRow:
    row = control.parent
    assert isinstance(row, SettingRow)
    return row
