"""Drives the real application, with the real client and a scripted worker, through Textual's pilot."""

from __future__ import annotations

import contextlib
import json
import sys
import time
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from textual.pilot import Pilot

from edge0_tui import settings_file
from edge0_tui.app import Edge0App
from edge0_tui.controller import Controller
from edge0_tui.first_run import remember
from edge0_tui.options import AppOptions
from edge0_tui.paths import find_paths
from edge0_tui.widgets.banner import Banner
from edge0_tui.widgets.prompt import Prompt
from edge0_tui.widgets.transcript import Transcript
from engine.client import EngineClient

PATIENCE = 30.0
SHORT = {"text": "One two three.", "prompt_tokens": 4, "prefill_chunk": 4}
LONG = {"text": " ".join(f"word{number}" for number in range(4000)), "pace": 0.01, "prompt_tokens": 4}


@dataclass
class Driver:
    """An open application. Conditions are waited for; nothing here sleeps for a fixed time."""

    app: Edge0App
    pilot: Pilot[int]
    engine: EngineClient

    @property
    def chat(self) -> Controller:
        return self.app.controller

    @property
    def prompt(self) -> Prompt:
        return self.app.chat.query_one(Prompt)

    @property
    def transcript(self) -> Transcript:
        return self.app.chat.query_one(Transcript)

    @property
    def banner(self) -> str:
        notice = self.app.chat.query_one(Banner).notice
        return f"{notice.message} {notice.hint}" if notice else ""

    @property
    def answers(self) -> list[str]:
        return [turn.text for turn in self.chat.conversation.path if turn.role == "assistant"]

    async def until(self, condition: Callable[[], object]) -> None:
        """Let the application run until this holds."""
        give_up = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < give_up, f"waited {PATIENCE:.0f} s; banner: {self.banner!r}"
            await self.pilot.pause(0.01)

    async def ready(self) -> None:
        await self.until(lambda: self.chat.link.phase == "ready")

    async def send(self, text: str) -> None:
        """Write and press enter."""
        self.prompt.insert(text)
        await self.pilot.press("enter")

    async def ask(self, text: str) -> str:
        """Send and wait for the end of the answer."""
        count = len(self.answers)
        await self.send(text)
        await self.until(lambda: len(self.answers) > count and self.chat.reply is None)
        return self.answers[-1]

    async def on_screen(self, kind: type[Any]) -> None:
        await self.until(lambda: isinstance(self.app.screen, kind) and self.app.screen.is_mounted)


@contextlib.asynccontextmanager
async def opened(
    home: Path,
    script: Mapping[str, Any] | None = None,
    *,
    size: tuple[int, int] = (120, 40),
    options: AppOptions | None = None,
    patience: float = 30.0,
    first: bool = False,
) -> AsyncIterator[Driver]:
    """The application in `home` (EDGE0_HOME is set by the fixture), closed at the end whatever happens.

    With `first` it is opened for the first time and begins with the introduction.
    """
    path = home / "script.json"
    path.write_text(json.dumps(script or {"replies": [SHORT]}))
    paths = find_paths()
    if not first:
        remember(paths)
    command = [sys.executable, "-m", "engine.worker", "--scripted", str(path)]
    engine = EngineClient(command, log_path=paths.engine_log, patience=patience)
    app = Edge0App(options or AppOptions(), paths, settings_file.read(paths.settings), engine)
    try:
        async with app.run_test(size=size) as pilot:
            driver = Driver(app, pilot, engine)
            yield driver
            await app.controller.close()
    finally:
        await engine.close()
