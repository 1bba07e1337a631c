"""The models screen's downloads: begin, pause, cancel, and plans for repositories that a person names."""

from __future__ import annotations

from edge0_tui import units
from edge0_tui.model_desk import ModelDesk
from edge0_tui.screens.ask import AskScreen
from edge0_tui.screens.ask_repository import AskRepositoryScreen
from edge0_tui.screens.models_plan import ModelsPlanScreen
from edge0_tui.widgets.models_list import ModelsList


class ModelsFetchScreen(ModelsPlanScreen):
    """Downloads belong to the application and go on without the screen; it is redrawn while they move."""

    def __init__(self, desk: ModelDesk, wanted: str = "") -> None:
        super().__init__(desk, wanted)
        self._dirty = False
        self._states: dict[str, str] = {}
        self._present = self._loads()

    def jobs_changed(self) -> None:
        """A download or a verification has moved on."""
        self._dirty = True

    def _loads(self) -> tuple[object, ...]:
        """Differs when a load has begun or ended."""
        return self.desk.link.loading, self.desk.link.loaded, self.desk.link.info

    def redraw(self) -> None:
        loads = self._loads()
        if not self.is_attached or (not self._dirty and loads == self._present):
            return
        self._dirty = False
        if loads != self._present:
            self._present = loads
            self.run_worker(self.refill(), group="refill", exclusive=True)
            return
        states = {key: item.state for key, item in self.desk.jobs.downloads.items()}
        checks = {path: "checking" if check.running else "" for path, check in self.desk.jobs.checks.items()}
        if {**states, **checks} != self._states:
            self._states = {**states, **checks}
            self.desk.forget_plans()
            self.run_worker(self.refill(), group="refill", exclusive=True)
            return
        self.query_one(ModelsList).show_lines(self.desk.lines())
        self.draw()

    async def action_model_get(self) -> None:
        line = self.line
        if line is None or line.kind != "fetch" or line.running:
            return
        if problem := await self.desk.jobs.fetch(line.plan, line.fetch.into if line.fetch else ""):
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
        have = max(
            line.download.progress.done_bytes if line.download else 0, line.fetch.have_bytes if line.fetch else 0
        )
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
            self.asked(line.plan)
        else:
            self.app.push_screen(AskRepositoryScreen(), self.asked)

    def asked(self, repo: str | None) -> None:
        if repo is not None:
            self.run_worker(self._ask(repo))

    async def _ask(self, repo: str) -> None:
        self.wanted = f"get:{repo}"
        await self.desk.ask(repo)
        await self.refill()
