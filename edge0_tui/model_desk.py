"""What the models screen asks for and does. Lives as long as the application; no Textual."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from edge0_tui.automatic import AUTOMATIC
from edge0_tui.daemons import in_daemon
from edge0_tui.engine_link import EngineLink
from edge0_tui.model_jobs import ModelJobs
from edge0_tui.model_menu import MenuLine, menu
from edge0_tui.paths import Paths
from edge0_tui.prospect import Prospect, look, look_at_repository, measured
from edge0_tui.settings import Model
from edge0_tui.shelf import Shelf, read_shelf
from engine.errors import EngineError

if TYPE_CHECKING:
    from edge0_tui.manager.details import Details
    from edge0_tui.manager.remove import Removal
    from engine.outlook.engine_facts import DeviceFacts

SWAP_SECONDS = 0.2
"""How long swap is watched to see whether it grows."""
FRESH_SECONDS = 10.0
"""How long what was read of the machine is shown without reading it again."""


@dataclass(frozen=True)
class Seen:
    """A prospect, or why there is none, and when it was looked at."""

    at: float
    prospect: Prospect | None = None
    problem: str = ""

    @property
    def fresh(self) -> bool:
        return time.monotonic() - self.at < FRESH_SECONDS


class ModelDesk:
    """`settings` are those of the group "Model"; `change` keeps others and answers with what hinders it."""

    def __init__(
        self,
        paths: Paths,
        link: EngineLink,
        jobs: ModelJobs,
        settings: Callable[[], Model],
        change: Callable[[Model], str],
    ) -> None:
        self.paths, self.link, self.jobs = paths, link, jobs
        self._settings, self._change = settings, change
        self.asked: list[str] = []
        self.shelf = Shelf()
        self._free: dict[str, int | None] = {}
        self._seen: dict[str, Seen] = {}
        self._looking: dict[str, asyncio.Task[Seen]] = {}
        self._device: DeviceFacts | None = None

    async def look_around(self) -> None:
        """Read again what is there."""
        self.shelf = await asyncio.to_thread(read_shelf, self.paths, self.link.loaded, tuple(self.asked))
        places = {item.into for item in self.shelf.available} | {str(self.paths.models)}
        self._free = await asyncio.to_thread(_free_in, places - {""})

    def free(self, place: str) -> int | None:
        """Bytes free where a download goes, as of the last look around; None: unknown."""
        return self._free.get(place)

    def lines(self) -> list[MenuLine]:
        """The menu as things are now."""
        link = self.link
        return menu(self.shelf, link.loaded, link.info, self.jobs.downloads, self.agreement, link.loading)

    # --- settings ---

    @property
    def agreement(self) -> bool:
        """Whether replies with predicted routing measure agreement."""
        return self._settings().measure_agreement

    def switch_agreement(self) -> str:
        """The other way from the next reply on; answers with what hinders it."""
        return self._change(replace(self._settings(), measure_agreement=not self.agreement))

    def begins(self, line: MenuLine) -> bool:
        """Whether this model is loaded at every start."""
        wanted = self._settings().default
        return line.kind == "installed" and wanted in (line.plan, line.text) and wanted != AUTOMATIC

    def begin_with(self, line: MenuLine | None) -> str:
        """Load this model at every start; None: what suits the machine then. Answers with what hinders it."""
        return self._change(replace(self._settings(), default=line.plan if line else AUTOMATIC))

    # --- plans ---

    def seen(self, plan: str) -> Seen | None:
        """What is known of a line's plan, however old."""
        return self._seen.get(plan)

    def needs_asking(self, line: MenuLine) -> bool:
        """Whether its plan is made from what the hub says, and nobody has asked for that yet."""
        return "/" in line.plan and line.kind == "fetch" and line.plan not in self.asked

    async def look(self, line: MenuLine) -> Seen:
        """The plan of a line, made from what is true now. Never raises for a model that cannot be planned for.

        Whoever asks while that is being found out waits for the same answer; giving up waiting does not stop it.
        """
        plan, remote = line.plan, line.kind == "fetch" and "/" in line.plan
        known = self._seen.get(plan)
        if known is not None and (known.fresh or (remote and known.prospect is not None)):
            return known
        task = self._looking.get(plan)
        if task is None:
            task = asyncio.create_task(self._look(plan, remote, known), name=f"plan {plan}")
            self._looking[plan] = task
            task.add_done_callback(lambda _: self._looking.pop(plan, None))
        return await asyncio.shield(task)

    async def _look(self, plan: str, remote: bool, known: Seen | None) -> Seen:
        if self._device is None:
            self._device = await asyncio.to_thread(_device)
        try:
            if remote:
                ask = partial(look_at_repository, plan, self.paths, self._device)
                prospect = await in_daemon(ask, f"look {plan}")
            else:
                opened = known.prospect.what if known and known.prospect else None
                prospect = await asyncio.to_thread(look, plan, self.paths, self._device, SWAP_SECONDS, opened)
            seen = Seen(time.monotonic(), prospect)
        except EngineError as error:
            seen = Seen(time.monotonic(), problem=str(error))
        self._seen[plan] = seen
        return seen

    async def ask(self, repo: str) -> None:
        """A person wants a plan for this repository."""
        if repo not in self.asked:
            self.asked.append(repo)
        self._seen.pop(repo, None)
        await self.look_around()

    async def measure(self, line: MenuLine, say: Callable[[str], None]) -> str:
        """Measure the disk and the layers for a line's model; answers with what hinders it.

        `say` is called on the event loop with what is being done.
        """
        seen = await self.look(line)
        if seen.prospect is None:
            return seen.problem
        loop = asyncio.get_running_loop()

        def heard(text: str) -> None:
            loop.call_soon_threadsafe(say, text)

        try:
            prospect = await asyncio.to_thread(measured, seen.prospect, self.paths, heard)
        except EngineError as error:
            return str(error)
        self.forget_plans()  # the disk's speed concerns the others as well
        self._seen[line.plan] = Seen(time.monotonic(), prospect)
        return ""

    def forget_plans(self) -> None:
        """What was read of the machine is old: something has been loaded, fetched or deleted."""
        self._seen = {plan: seen for plan, seen in self._seen.items() if plan in self.asked}

    # --- keeping ---

    async def details(self, path: Path) -> Details:
        """Raises CheckpointError."""
        from edge0_tui.manager.details import details

        return await asyncio.to_thread(details, path, self.paths)

    async def removal(self, path: Path) -> Removal:
        """What deleting would do. Raises UsageError or InUseError when it is refused."""
        from edge0_tui.manager.remove import removal

        return await asyncio.to_thread(removal, path, self.paths)

    async def remove(self, path: Path) -> Removal:
        """Delete. Raises EngineError."""
        from edge0_tui.manager.remove import remove

        done = await asyncio.to_thread(remove, path, self.paths)
        self.forget_plans()
        return done


def _free_in(places: Iterable[str]) -> dict[str, int | None]:
    from engine.outlook.volume import volume_of

    return {place: volume_of(Path(place)).free for place in places}


def _device() -> DeviceFacts:
    """Only an accelerator has facts worth starting an engine process for."""
    from engine.outlook.engine_facts import ask_engine, usual_device

    if sys.platform != "darwin":
        return usual_device()
    try:
        return ask_engine()
    except EngineError:
        return usual_device()
