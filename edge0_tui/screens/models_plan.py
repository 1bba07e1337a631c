"""The models screen's plans: of the line under the cursor, with the sliders as they are, measured when asked."""

from __future__ import annotations

import asyncio

from textual import on
from textual.widgets import OptionList

from edge0_tui.model_desk import ModelDesk
from edge0_tui.model_menu import MenuLine
from edge0_tui.notices import Notice
from edge0_tui.screens.models_view import ModelsViewScreen
from edge0_tui.widgets.models_list import ModelsList
from edge0_tui.widgets.plan_card import PlanCard, contexts, nearest
from edge0_tui.widgets.slider import Slider

_SETTLE_SECONDS = 0.08
"""A line the cursor only passes is not planned for."""


class ModelsPlanScreen(ModelsViewScreen):
    """`wanted` is the id of the line to begin on; empty: what is loaded, or being loaded."""

    def __init__(self, desk: ModelDesk, wanted: str = "") -> None:
        super().__init__(desk)
        loading = desk.link.loading
        self.wanted = wanted or (f"model:{loading.model}" if loading else "")

    @on(PlanCard.Resized)
    def _card_resized(self) -> None:
        self.call_after_refresh(self.draw)

    async def refill(self) -> None:
        """Read again what there is, and draw it."""
        await self.desk.look_around()
        if self.is_attached:
            self.query_one(ModelsList).show_lines(self.desk.lines(), self.wanted)
            self.wanted = ""
            self.look()

    @on(OptionList.OptionHighlighted)
    def _moved(self) -> None:
        self.details = None
        self.query_one(PlanCard).top()
        self.hush()
        self.look()

    def look(self) -> None:
        line = self.line
        if line is None:
            return
        self.draw()
        if line.plan and not self.desk.needs_asking(line):
            self.run_worker(self._plan(line), group="plan", exclusive=True)

    async def _plan(self, line: MenuLine) -> None:
        await asyncio.sleep(_SETTLE_SECONDS)
        await self.desk.look(line)
        present = self.line
        if self.is_attached and present is not None and present.id == line.id:
            self.draw()

    @on(Slider.Moved)
    def _slid(self, event: Slider.Moved) -> None:
        out = self.query_one(PlanCard).outlook
        if out is None:
            return
        if event.slider.id == "budget":
            self.budget = event.value
        else:
            self.context = contexts(out)[event.value]
        self.draw()

    def action_model_less(self) -> None:
        self._slide(-1)

    def action_model_more(self) -> None:
        self._slide(1)

    def _slide(self, steps: int) -> None:
        if self.query_one(PlanCard).outlook is not None:
            self.query_one("#budget", Slider).action_move(steps)

    def action_model_automatic(self) -> None:
        self.budget = None
        self.draw()

    def action_model_context(self) -> None:
        out = self.query_one(PlanCard).outlook
        if out is not None:
            known = contexts(out)
            self.context = known[(nearest(known, out.context) + 1) % len(known)]
            self.draw()

    def action_model_page(self, pages: int) -> None:
        self.query_one(PlanCard).page(pages)

    def action_model_measure(self) -> None:
        line = self.line
        if line is None or not line.plan or self.measuring:
            return
        self.measuring = line.plan
        self.tell(Notice("Looking at the machine…"))
        self.run_worker(self._measure(line))

    async def _measure(self, line: MenuLine) -> None:
        problem = await self.desk.measure(line, lambda text: self.tell(Notice(f"{text[:1].upper()}{text[1:]}…")))
        self.measuring = ""
        if self.is_attached:
            self.tell(Notice(problem, tone="error") if problem else Notice("Measured."))
            self.look()
