"""The models screen: plan, fetch, keep and switch. What it looks like is in `models_view`."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from textual import events, on
from textual.binding import BindingType
from textual.widgets import OptionList

from edge0_tui import keys, units
from edge0_tui.choice import Choice
from edge0_tui.model_desk import ModelDesk
from edge0_tui.model_menu import MenuLine
from edge0_tui.notices import Notice
from edge0_tui.screens.ask import AskScreen
from edge0_tui.screens.ask_repository import AskRepositoryScreen
from edge0_tui.screens.models_view import ModelsViewScreen
from edge0_tui.widgets.models_list import ModelsList
from edge0_tui.widgets.plan_card import PlanCard, contexts, nearest
from edge0_tui.widgets.slider import Slider
from engine.errors import EngineError

_SETTLE_SECONDS = 0.08
"""A line the cursor only passes is not planned for."""
_REDRAWS_PER_SECOND = 5
LOW = 28
"""Rows below which the sheet gives up its air."""


class ModelsScreen(ModelsViewScreen):
    """Answers with what is to be loaded. One method for each action of scope "models" in `keys`."""

    BINDINGS: ClassVar[list[BindingType]] = keys.bindings("models")

    def __init__(self, desk: ModelDesk, wanted: str = "") -> None:
        """`wanted` is the id of the line to begin on; empty: what is loaded."""
        super().__init__(desk)
        self._wanted = wanted
        self._dirty = False
        self._states: dict[str, str] = {}

    async def on_mount(self) -> None:
        self.set_interval(1 / _REDRAWS_PER_SECOND, self._redraw)
        self.query_one(ModelsList).focus()
        self.query_one(ModelsList).click_chooses = self.narrow
        await self.refill()

    def on_resize(self, event: events.Resize) -> None:
        self.set_class(self.narrow, "-narrow")
        self.set_class(self.app.size.height < LOW, "-low")
        for view in self.query(ModelsList):  # the first size comes before there is a list
            view.click_chooses = self.narrow

    @on(PlanCard.Resized)
    def _card_resized(self) -> None:
        self.call_after_refresh(self.draw)

    async def refill(self) -> None:
        """Read again what there is, and draw it."""
        await self.desk.look_around()
        if self.is_attached:
            self.query_one(ModelsList).show_lines(self.desk.lines(), self._wanted)
            self._wanted = ""
            self._look()

    def jobs_changed(self) -> None:
        """A download or a verification has moved on."""
        self._dirty = True

    def _redraw(self) -> None:
        if not self._dirty or not self.is_attached:
            return
        self._dirty = False
        states = {key: item.state for key, item in self.desk.jobs.downloads.items()}
        checks = {path: "checking" if check.running else "" for path, check in self.desk.jobs.checks.items()}
        if {**states, **checks} != self._states:
            self._states = {**states, **checks}
            self.desk.forget_plans()
            self.run_worker(self.refill(), group="refill", exclusive=True)
            return
        self.query_one(ModelsList).show_lines(self.desk.lines())
        self.draw()

    # --- the line under the cursor ---

    @on(OptionList.OptionHighlighted)
    def _moved(self) -> None:
        self.details = None
        self._look()

    def _look(self) -> None:
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

    # --- using a line ---

    @on(OptionList.OptionSelected)
    def _selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.action_model_use()

    def action_model_use(self) -> None:
        line = self.line
        if line is None:
            return
        if line.kind == "other":
            self.app.push_screen(AskRepositoryScreen(), self._asked)
        elif self.narrow and not self.on_card:
            self.add_class("-card")
            self.query_one("#card-scroll").focus()
        elif line.kind == "fetch":
            self.run_worker(self.action_model_get())
        elif line.kind == "agreement":
            problem = self.desk.set_agreement(not self.desk.agreement())
            self.tell(Notice(problem, tone="warning" if problem else "info"))
            self.query_one(ModelsList).show_lines(self.desk.lines())
        elif line.choice is not None:
            self._load(line, line.choice)
        else:
            self.tell(Notice(f"{line.text} cannot be used: {line.note.strip()}.", tone="warning"))

    def _load(self, line: MenuLine, choice: Choice) -> None:
        out = self.plan(line)
        if out is not None and not out.possible:
            self.tell(Notice(f"Not loaded. {out.sentence}", out.hint, "error"))
            return
        choice = replace(choice, memory_bytes=self.budget, context=self.context)
        if out is not None and self.context is not None:
            choice = replace(choice, context=min(self.context, out.facts.max_context))
        self.dismiss(None if choice == self.desk.link.loaded else choice)

    def action_close(self) -> None:
        if self.on_card:
            self.remove_class("-card")
            self.query_one(ModelsList).focus()
            self.call_after_refresh(self.draw)
        else:
            self.dismiss(None)

    # --- fetching ---

    async def action_model_get(self) -> None:
        line = self.line
        if line is None or line.kind != "fetch" or line.running:
            return
        if problem := await self.desk.jobs.fetch(line.plan):
            self.tell(problem)

    async def action_model_pause(self) -> None:
        line = self.line
        if line is not None and line.download is not None:
            await self.desk.jobs.pause(line.download.key)

    def action_model_cancel(self) -> None:
        line = self.line
        if line is None:
            return
        if line.stored is not None and self.desk.jobs.stop_check(line.stored.model.path):
            return
        if line.fetch is None and line.download is None:
            return
        have = line.download.progress.done_bytes if line.download else line.fetch.have_bytes if line.fetch else 0
        answers = [
            ("keep", "Keep", "it goes on from there later"),
            ("discard", "Discard", f"frees {units.size(have)}"),
        ]
        text = f"{units.size(have)} of {line.text} have arrived."
        key = line.download.key if line.download else line.fetch.path if line.fetch else ""
        question = AskScreen("Cancel the download", text, answers)
        self.app.push_screen(question, lambda said: self._cancelled(key, said))

    def _cancelled(self, key: str, said: str | None) -> None:
        if said is not None:
            self.run_worker(self._discard(key, keep=said == "keep"))

    async def _discard(self, key: str, *, keep: bool) -> None:
        if keep:
            await self.desk.jobs.pause(key)
        elif notice := await self.desk.jobs.discard(key, keep=False):
            self.tell(notice)
        await self.refill()

    def action_model_repository(self) -> None:
        line = self.line
        if line is not None and self.desk.needs_asking(line):
            self._asked(line.plan)
        else:
            self.app.push_screen(AskRepositoryScreen(), self._asked)

    def _asked(self, repo: str | None) -> None:
        if repo is not None:
            self.run_worker(self._ask(repo))

    async def _ask(self, repo: str) -> None:
        self._wanted = f"get:{repo}"
        await self.desk.ask(repo)
        await self.refill()

    # --- keeping ---

    async def action_model_details(self) -> None:
        line = self.line
        if line is None or line.stored is None:
            return
        if self.details is not None:
            self.details = None
        else:
            try:
                self.details = await self.desk.details(line.stored.model.path)
            except EngineError as error:
                self.tell(Notice(error.message, error.hint, "error"))
        self.draw()

    def action_model_verify(self) -> None:
        line = self.line
        if line is not None and line.stored is not None:
            self.desk.jobs.verify(line.stored.model.path)

    async def action_model_delete(self) -> None:
        line = self.line
        if line is None or line.stored is None:
            return
        path = line.stored.model.path
        try:
            plan = await self.desk.removal(path)
        except EngineError as error:
            self.tell(Notice(error.message, error.hint, "warning"))
            return
        text = f"{path}: {len(plan.files)} files. It would have to be fetched again."
        if plan.kept:
            text += f" Not part of the model and kept: {', '.join(plan.kept)}."
        answers = [("keep", "Keep", ""), ("delete", "Delete", f"frees {units.size(plan.bytes)}")]
        question = AskScreen(f"Delete {line.text}?", text, answers)
        self.app.push_screen(question, lambda said: self._deleted(path, said))

    def _deleted(self, path: Path, said: str | None) -> None:
        if said == "delete":
            self.run_worker(self._delete(path))

    async def _delete(self, path: Path) -> None:
        try:
            done = await self.desk.remove(path)
            self.tell(Notice(f"{units.size(done.bytes)} freed."))
        except EngineError as error:
            self.tell(Notice(error.message, error.hint, "error"))
        await self.refill()

    # --- measuring ---

    def action_model_measure(self) -> None:
        line = self.line
        if line is None or not line.plan or self.measuring:
            return
        self.measuring = line.plan
        self.run_worker(self._measure(line))

    async def _measure(self, line: MenuLine) -> None:
        problem = await self.desk.measure(line, lambda text: self.tell(Notice(f"Measuring: {text}")))
        self.measuring = ""
        if self.is_attached:
            self.tell(Notice(problem, tone="error") if problem else Notice("Measured."))
            self._look()
