"""The menu of a comparison: by what else the question is to be answered, and what stays loaded."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Checkbox, OptionList, Static

from edge0_tui.choice import Choice
from edge0_tui.comparison import Alternative, Comparison, alternatives
from edge0_tui.screens.dialog import Dialog
from edge0_tui.widgets.menu_list import MenuList
from engine.protocol import ModelInfo

if TYPE_CHECKING:
    from edge0_tui.installed import Installed

_BACK = "afterwards what is loaded now is loaded again"
_KEEP = "the other one stays loaded"


class CompareScreen(Dialog[Comparison]):
    """Answers with what was chosen. `find` looks at disks and runs beside the screen."""

    CSS_PATH = ["dialog.tcss", "menu.tcss"]
    TITLE = "Compare with"
    KEYS = (("enter", "answer again"), ("↑ ↓", "choose"), ("k", "keep or go back"), ("esc", "close"))
    BINDINGS: ClassVar[list[BindingType]] = [Binding("k", "keep", "Keep", show=False)]

    def __init__(self, find: Callable[[], Sequence[Installed]], loaded: Choice, info: ModelInfo) -> None:
        super().__init__()
        self._find, self._loaded, self._info = find, loaded, info
        self._lines: list[Alternative] = []

    def body(self) -> ComposeResult:
        yield Static("The answer becomes another version beside this one.", classes="menu-text", markup=False)
        yield MenuList(id="menu-list")
        yield Checkbox(_BACK, compact=True, classes="menu-check")

    async def on_mount(self) -> None:
        installed = await asyncio.to_thread(self._find)
        self._lines = alternatives(installed, self._loaded, self._info)
        view, kind = self.query_one(MenuList), ""
        for index, line in enumerate(self._lines):
            if line.kind != kind:
                view.add_heading(kind := line.kind)
            view.add_line(line.name, line.note, id=str(index))
        view.go_to_first()
        view.focus()

    def action_keep(self) -> None:
        self.query_one(Checkbox).toggle()

    def on_checkbox_changed(self, event: Checkbox.Changed) -> None:
        event.checkbox.label = _KEEP if event.value else _BACK

    @on(OptionList.OptionSelected)
    def _chosen(self, event: OptionList.OptionSelected) -> None:
        if event.option_id is not None:
            choice = self._lines[int(event.option_id)].choice
            self.dismiss(Comparison(choice, self.query_one(Checkbox).value))
