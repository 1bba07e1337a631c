"""The models menu: checkpoint, adapter, routing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from textual import on
from textual.app import ComposeResult
from textual.widgets import OptionList

from edge0_tui.choice import Choice
from edge0_tui.installed import Installed
from edge0_tui.model_menu import MenuLine, menu
from edge0_tui.screens.dialog import Dialog
from edge0_tui.widgets.menu_list import MenuList
from engine.protocol import ModelInfo


class ModelsScreen(Dialog[Choice]):
    """Answers with what was chosen. `find` looks at disks and runs beside the screen."""

    CSS_PATH = ["dialog.tcss", "models.tcss"]
    TITLE = "Models"
    KEYS = (("enter", "load"), ("↑ ↓", "choose"), ("esc", "close"))

    def __init__(
        self, find: Callable[[], Sequence[Installed]], loaded: Choice | None, info: ModelInfo | None
    ) -> None:
        super().__init__()
        self._find, self._loaded, self._info = find, loaded, info
        self._lines: list[MenuLine] = []

    def body(self) -> ComposeResult:
        yield MenuList(id="models-list")

    async def on_mount(self) -> None:
        installed = await asyncio.to_thread(self._find)
        self._lines = menu(installed, self._loaded, self._info)
        view = self.query_one(MenuList)
        for index, line in enumerate(self._lines):
            if line.heading:
                view.add_heading(line.text)
            else:
                id = str(index)
                view.add_line(line.text, line.note, id=id, marked=line.loaded, enabled=line.choice is not None)
        view.go_to_first(next((str(index) for index, line in enumerate(self._lines) if line.loaded), None))
        view.focus()

    @on(OptionList.OptionSelected)
    def _chosen(self, event: OptionList.OptionSelected) -> None:
        if event.option_id is not None:
            self.dismiss(self._lines[int(event.option_id)].choice)
