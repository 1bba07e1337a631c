"""One setting: its title, the control its type asks for, and what it does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import Checkbox, Input, Select, Static

from edge0_tui.settings_schema import Key

_ON, _OFF = "on", "off"


class Tick(Checkbox):
    """Is empty while it is off, so that it can be read without colours."""

    def render(self) -> Content:
        self.BUTTON_INNER = "✓" if self.value else " "
        return super().render()


class SettingRow(Horizontal):
    """The help gives way to the error while what is typed cannot be used."""

    def __init__(self, key: Key, value: Any, themes: Mapping[str, str]) -> None:
        super().__init__()
        self.key = key
        self._value, self._themes = value, themes

    def compose(self) -> ComposeResult:
        option = self.key.option
        yield Static(option.title, classes="setting-title", markup=False)
        if self.key.kind is bool:
            yield Tick(_ON if self._value else _OFF, value=self._value, compact=True, classes="setting-control")
        elif choices := self._choices():
            value = self._value if self._value in dict(choices).values() else Select.NULL
            yield Select(
                choices, value=value, allow_blank=value is Select.NULL, compact=True, classes="setting-control"
            )
        else:
            text = self.key.text(self._value)
            placeholder = "from the checkpoint" if self.key.optional else "automatic" if not text else ""
            yield Input(text, placeholder=placeholder, compact=True, classes="setting-control")
        yield Static(option.help, classes="setting-help", markup=False)

    def on_checkbox_changed(self, event: Checkbox.Changed) -> None:
        event.checkbox.label = _ON if event.value else _OFF

    def show_error(self, message: str) -> None:
        """Say what is wrong with what is typed; an empty message brings the help back."""
        help = self.query_one(".setting-help", Static)
        help.set_class(bool(message), "-error")
        help.update(message.partition(": ")[2] or message if message else self.key.option.help)

    def _choices(self) -> list[tuple[str, str]]:
        if self.key.option.kind == "theme":
            return [(title, name) for name, title in self._themes.items()]
        return [(choice, choice) for choice in self.key.option.choices]
