"""The models screen's care for what is installed: details, verification, deletion."""

from __future__ import annotations

from pathlib import Path

from edge0_tui import units
from edge0_tui.notices import Notice
from edge0_tui.screens.ask import AskScreen
from edge0_tui.screens.models_fetch import ModelsFetchScreen
from edge0_tui.widgets.plan_card import PlanCard
from engine.errors import EngineError


class ModelsKeepScreen(ModelsFetchScreen):
    """Nothing is deleted without a question that says what goes and what stays."""

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
        self.query_one(PlanCard).top()
        self.draw()

    def action_model_verify(self) -> None:
        line = self.line
        if line is not None and line.stored is not None:
            self.desk.jobs.verify(line.stored.model.path)

    def action_model_start(self) -> None:
        line = self.line
        if line is None or line.kind != "installed" or line.choice is None:
            return
        always = not self.desk.begins(line)
        if problem := self.desk.begin_with(line if always else None):
            self.tell(Notice(problem, tone="warning"))
        elif always:
            self.tell(Notice(f"{line.text} is loaded at every start from now on."))
        else:
            self.tell(Notice("Automatic: at the start the tier is loaded that suits the machine then."))
        self.draw()

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
