"""Choosing the colours, seeing each while going through the list."""

from __future__ import annotations

from collections.abc import Mapping

from textual import on
from textual.app import ComposeResult
from textual.widgets import OptionList

from edge0_tui.screens.dialog import Dialog
from edge0_tui.widgets.menu_list import MenuList


class ThemesScreen(Dialog[str]):
    """Answers with a theme's name. Escape brings the former colours back."""

    CSS_PATH = ["dialog.tcss", "themes.tcss"]
    TITLE = "Theme"
    KEYS = (("enter", "keep"), ("↑ ↓", "look"), ("esc", "back"))

    def __init__(self, titles: Mapping[str, str]) -> None:
        super().__init__()
        self._titles = titles

    def body(self) -> ComposeResult:
        yield MenuList(id="themes-list")

    def on_mount(self) -> None:
        self._before = self.app.theme
        view = self.query_one(MenuList)
        for name, title in self._titles.items():
            view.add_line(title, id=name, marked=name == self._before)
        view.go_to_first(self._before)
        view.focus()

    @on(OptionList.OptionHighlighted)
    def _look(self, event: OptionList.OptionHighlighted) -> None:
        if event.option_id is not None:
            self.app.theme = event.option_id

    @on(OptionList.OptionSelected)
    def _keep(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(event.option_id)

    def action_close(self) -> None:
        self.app.theme = self._before
        self.dismiss(None)
