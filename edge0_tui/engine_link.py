"""Keeps an engine running and loaded for the screen: starts it, loads, recovers from its death, says what happens.

No Textual here. The listener is told on the event loop; it reads the link's attributes to draw them.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from typing import Any, Literal, Protocol

from edge0_tui.choice import Choice
from edge0_tui.manager.errors import InUseError
from edge0_tui.manager.use import Holding
from edge0_tui.notices import Notice, Tone
from edge0_tui.safe_start import SafeStart
from engine.interface import Died, Engine, EngineDied, Responsive, Unresponsive, new_id
from engine.interface import Notice as EngineNotice
from engine.protocol import Count, Counted, Event, Failed, Generate, Heartbeat, Loaded, Loading, ModelInfo

Phase = Literal["starting", "loading", "ready", "empty", "down"]
SILENCE, LIFE = "engine-silent", "engine-life"
_DEATHS_SECONDS = 60.0


class LinkListener(Protocol):
    """Who wants to know. Calls must not block."""

    def link_changed(self) -> None:
        """Phase, progress or footprint have changed."""

    def link_loaded(self, info: ModelInfo) -> None:
        """A model is loaded and takes requests."""

    def link_notice(self, notice: Notice) -> None:
        """Something a person should read."""

    def link_notice_over(self, topic: str) -> None:
        """What was told under this topic no longer holds."""


class EngineLink:
    """One engine and what is, or is being, loaded in it."""

    def __init__(
        self,
        engine: Engine,
        listener: LinkListener,
        safe_start: SafeStart,
        spawn: Callable[[Coroutine[Any, Any, None]], object],
    ) -> None:
        self.phase: Phase = "starting"
        self.info: ModelInfo | None = None
        self.loading: Choice | None = None
        self.loaded: Choice | None = None
        self.progress: Loading | None = None
        self.footprint = 0
        self._engine = engine
        self._listener = listener
        self._safe_start = safe_start
        self._spawn = spawn
        self._stamp = 0
        self._load_id = ""
        self._stopped: Choice | None = None
        self._deaths: list[float] = []
        self._died_of = ""
        self._holding = Holding()
        engine.on_notice = self._on_notice

    async def open(self, wanted: Choice | Awaitable[Choice]) -> None:
        """Start the engine and load. After a crash in the last automatic load, nano is loaded instead.

        A choice that takes time to make is made while the engine starts.
        """
        crashed = self._safe_start.crashed()
        if isinstance(wanted, Choice):
            started, choice = await self._start(), wanted
        else:
            started, choice = await asyncio.gather(self._start(), wanted)
        if not started:
            return
        if crashed is not None and crashed == choice.model:
            if choice.model == "nano":
                self._become("empty")
                self._tell("Loading nano ended in a crash last time.", "{key:models} loads it anyway.", "warning")
                return
            name, choice = choice.name, Choice()
            self._tell(
                f"Loading {name} ended in a crash last time; nano is loaded instead.",
                "{key:models} loads it anyway.",
                "warning",
            )
        await self.load(choice, automatic=True)

    async def load(
        self, choice: Choice, *, automatic: bool = False, tried: frozenset[tuple[str, str]] = frozenset()
    ) -> None:
        """Load this; an earlier load that still runs is stopped and never published.

        Its directory is held from now on. One that is being deleted is refused before anything else changes.
        """
        try:
            self._holding.begin(choice.model)
        except InUseError as error:
            await self._refused(choice, error, tried)
            return
        self._stamp += 1
        stamp = self._stamp
        if self._load_id:
            self._engine.stop(self._load_id)
        self._load_id = new_id()
        self.loading, self.progress, self._stopped = choice, None, None
        self._become("loading")
        if automatic:
            self._safe_start.begin(choice.model)
        outcome: Event | None = None
        try:
            async with contextlib.aclosing(self._engine.load(choice.request(self._load_id))) as events:
                async for event in events:
                    outcome = event
                    if stamp == self._stamp and isinstance(event, Loading):
                        self.progress = event
                        self._listener.link_changed()
        except EngineDied:
            return  # `_on_notice` has been told as well and sees to it
        if stamp != self._stamp:
            return
        self._load_id, self.loading, self.progress = "", None, None
        self._safe_start.done()
        if isinstance(outcome, Loaded):
            self._holding.loaded()
            self.info, self.loaded = outcome.info, choice
            self._become("ready")
            self._listener.link_loaded(outcome.info)
            if self._died_of:
                why, self._died_of = self._died_of, ""
                self._tell(f"The engine stopped ({why}) and was restarted.", "The text so far is kept.", "warning")
        elif isinstance(outcome, Failed):
            await self._fall_back(choice, outcome, tried | {(choice.model, choice.adapter)})

    def stop_load(self) -> bool:
        """Stop the load that runs; true if there was one."""
        if not self._load_id:
            return False
        self._stopped = self.loading
        self._engine.stop(self._load_id)
        return True

    def generate(self, request: Generate) -> AsyncGenerator[Event, None]:
        """A reply's events. Raises `EngineDied`."""
        return self._engine.generate(request)

    async def count(self, texts: list[str]) -> list[int] | None:
        """Tokens of each text; None while nothing is loaded, or if the engine does not answer."""
        if self.phase != "ready":
            return None
        try:
            answer = await self._engine.count(Count(new_id(), texts))
        except EngineDied:
            return None
        return answer.tokens if isinstance(answer, Counted) else None

    def stop(self, request_id: str) -> None:
        self._engine.stop(request_id)

    async def restart(self) -> None:
        """A new process, asked for by a person, with the same model."""
        self._deaths.clear()
        self._died_of = ""
        again = self.loading or self.loaded or Choice()
        self._forget()
        self._listener.link_notice_over(SILENCE)
        if await self._start(anew=True):
            await self.load(again)

    async def close(self) -> None:
        """End the engine. A load that was under way in good order is not held against it."""
        self._stamp += 1
        if self.phase == "loading":
            self._safe_start.done()
        self._safe_start.leave()
        await self._engine.close()
        self._holding.give_up()

    # --- inside ---

    async def _start(self, anew: bool = False) -> bool:
        self._become("starting")
        try:
            await (self._engine.restart() if anew else self._engine.start())
        except EngineDied as error:
            self._become("down")
            self._tell(
                f"The engine does not start ({error.status}).",
                "{key:restart_engine} tries again, {key:log} shows its log.",
                "error",
            )
            return False
        except OSError as error:
            self._become("down")
            self._tell(f"The engine does not start: {error}.", "{key:restart_engine} tries again.", "error")
            return False
        return True

    async def _refused(self, choice: Choice, error: InUseError, tried: frozenset[tuple[str, str]]) -> None:
        """It is being deleted: what is loaded, or is being loaded, stays; where there is nothing, nano comes."""
        if self._load_id or (self.info is not None and self.loaded is not None):
            self._tell(f"{choice.name}: {error.message}", error.hint, "error")
        else:
            failed = Failed("", error.kind, error.message, error.hint)
            await self._fall_back(choice, failed, tried | {(choice.model, choice.adapter)})

    async def _fall_back(self, choice: Choice, failed: Failed, tried: frozenset[tuple[str, str]]) -> None:
        """After a refused load: what was loaded before, else nano within the same budget, else nothing."""
        tone: Tone = "info" if choice == self._stopped else "error"
        self._tell(f"{choice.name}: {failed.message}", failed.hint, tone)
        nano = Choice(memory_bytes=choice.memory_bytes)
        options = [
            option for option in (self.loaded, nano) if option and (option.model, option.adapter) not in tried
        ]
        self.info, self.loaded = None, None
        self._holding.give_up()
        if options:
            await self.load(options[0], tried=tried)
        else:
            self._become("empty")

    def _on_notice(self, notice: EngineNotice) -> None:
        match notice:
            case Heartbeat():
                self.footprint = notice.footprint_bytes
                self._listener.link_changed()
            case Died():
                if self.phase != "starting":
                    self._spawn(self._recover(notice))
            case Unresponsive(reason="stop"):
                self._silent("The engine does not obey the stop.")
            case Unresponsive():
                self._silent(f"The engine has been silent for {notice.seconds:.0f} s.")
            case Responsive():
                self._listener.link_notice_over(SILENCE)
            case Failed():
                self._tell(notice.message, notice.hint, "error", "")

    def _silent(self, message: str) -> None:
        hint = "{key:restart_engine} restarts it; the text so far is kept."
        self._listener.link_notice(Notice(message, hint, "warning", SILENCE))

    async def _recover(self, died: Died) -> None:
        was_loading, again = self.loading, self.loaded
        now = time.monotonic()
        self._deaths = [at for at in self._deaths if now - at < _DEATHS_SECONDS] + [now]
        self._forget()
        if len(self._deaths) > 1:
            self._become("down")
            self._tell(
                f"The engine stopped again ({died.status}).",
                "{key:restart_engine} restarts it, {key:log} shows its log.",
                "error",
            )
            return
        if was_loading is not None:
            self._safe_start.leave()
            self._tell(
                f"The engine stopped while loading {was_loading.name} ({died.status}).",
                "{key:models} chooses again.",
                "error",
            )
        else:
            self._tell(f"The engine stopped ({died.status}); it is being restarted.", "Nothing is lost.", "warning")
            self._died_of = died.status
        if not await self._start():
            return
        if again is not None:
            await self.load(again)
        else:
            self._become("empty")

    def _forget(self) -> None:
        self._stamp += 1
        self._load_id, self.loading, self.progress, self.info = "", None, None, None
        self._holding.give_up()

    def _become(self, phase: Phase) -> None:
        self.phase = phase
        self._listener.link_changed()

    def _tell(self, message: str, hint: str = "", tone: Tone = "info", topic: str = LIFE) -> None:
        self._listener.link_notice(Notice(message, hint, tone, topic))
