"""The models screen: plan, fetch, keep and switch.

What it looks like is in `models_view`; plans, downloads and what is installed have modules of their own.
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from textual import events, on
from textual.binding import BindingType
from textual.widgets import OptionList

from edge0_tui import keys
from edge0_tui.choice import Choice
from edge0_tui.model_menu import MenuLine
from edge0_tui.notices import Notice
from edge0_tui.screens.ask_repository import AskRepositoryScreen
from edge0_tui.screens.models_keep import ModelsKeepScreen
from edge0_tui.widgets.models_list import ModelsList

_REDRAWS_PER_SECOND = 5
LOW = 28
"""Rows below which the sheet gives up its air."""


class ModelsScreen(ModelsKeepScreen):
    """Answers with what is to be loaded. One method for each action of scope "models" in `keys`."""

    BINDINGS: ClassVar[list[BindingType]] = keys.bindings("models")

    async def on_mount(self) -> None:
        self.set_interval(1 / _REDRAWS_PER_SECOND, self.redraw)
        self.query_one(ModelsList).focus()
        self.query_one(ModelsList).click_chooses = self.narrow
        await self.refill()

    def on_resize(self, event: events.Resize) -> None:
        self.set_class(self.narrow, "-narrow")
        self.set_class(self.app.size.height < LOW, "-low")
        for view in self.query(ModelsList):  # the first size comes before there is a list
            view.click_chooses = self.narrow
        self.call_after_refresh(self.draw)

    @on(OptionList.OptionSelected)
    def _selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.action_model_use()

    def action_model_use(self) -> None:
        line = self.line
        if line is None:
            return
        if line.kind == "other":
            self.app.push_screen(AskRepositoryScreen(), self.asked)
        elif self.narrow and not self.on_card:
            self.add_class("-card")
            self.query_one("#card-scroll").focus()
            self.call_after_refresh(self.draw)
        elif line.kind == "fetch":
            self.run_worker(self.action_model_get())
        elif line.kind == "agreement":
            problem = self.desk.switch_agreement()
            self.tell(Notice(problem, tone="warning" if problem else "info"))
            self.query_one(ModelsList).show_lines(self.desk.lines())
        elif line.choice is not None:
            self._load(line, line.choice)
        else:
            self.tell(Notice(f"{line.text} cannot be used: {line.note.strip()}.", tone="warning"))

    def _load(self, line: MenuLine, choice: Choice) -> None:
        if self.as_it_is(line):
            self.dismiss(None)
            return
        out = self.plan(line)
        if out is not None and not out.possible:
            self.tell(Notice(f"Not loaded. {out.sentence}", out.hint, "error"))
            return
        choice = replace(choice, memory_bytes=self.budget, context=self.context)
        if out is not None and self.context is not None:
            choice = replace(choice, context=min(self.context, out.facts.max_context))
        self.dismiss(None if choice in (self.desk.link.loaded, self.desk.link.loading) else choice)

    def action_close(self) -> None:
        if self.on_card:
            self.remove_class("-card")
            self.query_one(ModelsList).focus()
            self.call_after_refresh(self.draw)
        else:
            self.dismiss(None)
