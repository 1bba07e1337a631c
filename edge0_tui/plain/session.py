"""`edge0-tui --plain`: the controller and the engine's link of the full screen, with lines instead of a screen."""

from __future__ import annotations

import asyncio
import signal
import sys
import time
from collections.abc import Coroutine
from typing import Any

from edge0_tui import exit_codes, settings_file
from edge0_tui.chat.store import TranscriptStore
from edge0_tui.controller import Controller
from edge0_tui.engine_link import EngineLink
from edge0_tui.notices import Notice
from edge0_tui.options import AppOptions
from edge0_tui.paths import Paths, find_paths
from edge0_tui.plain.actions import Actions
from edge0_tui.plain.commands import find
from edge0_tui.plain.lines import lines
from edge0_tui.plain.printer import Printer
from edge0_tui.plain.view import PlainView
from edge0_tui.safe_start import SafeStart
from edge0_tui.startup import first_choice
from engine.interface import Engine

_TWICE_SECONDS = 2.0


def run_plain(options: AppOptions) -> int:
    """Run until the person leaves. The exit code."""
    from engine.client import EngineClient

    paths = find_paths()
    reading = settings_file.read(paths.settings)
    if reading.settings.storage.data_dir:
        paths = find_paths(reading.settings.storage.data_dir)
    session = PlainSession(options, paths, reading, EngineClient(log_path=paths.engine_log), Printer(sys.stdout))
    return asyncio.run(session.run(sys.stdin.fileno()))


class PlainSession:
    """One run. A task that fails ends it with its traceback, as in the full screen."""

    def __init__(
        self, options: AppOptions, paths: Paths, reading: settings_file.Reading, engine: Engine, printer: Printer
    ) -> None:
        self._options, self._paths, self._reading, self._printer = options, paths, reading, printer
        self._engine = engine
        store = TranscriptStore(paths.transcripts)
        self.controller = Controller(reading.settings, store.save, self._spawn)
        self.link = EngineLink(engine, self.controller, SafeStart(paths.logs), self._spawn)
        self.view = PlainView(printer, self.controller, thinking=reading.settings.chat.show_thinking)
        self.controller.attach(self.view, self.link)
        self._actions = Actions(self.controller, self.view, store, paths, printer)
        self._tasks: set[asyncio.Task[None]] = set()
        self._interrupted = -_TWICE_SECONDS
        self._over: asyncio.Future[int]

    async def run(self, descriptor: int) -> int:
        """Until the input ends, `/quit`, a second ctrl+c or SIGTERM."""
        loop = asyncio.get_running_loop()
        self._over = loop.create_future()
        loop.add_signal_handler(signal.SIGINT, self._interrupt)
        for number in (signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, self._leave, 128 + number)
        self._printer.line("edge0, plain. /help lists the commands, /quit leaves.")
        try:
            self._spawn(self._begin())
            self._spawn(self._converse(descriptor))
            return await self._over
        finally:
            await self.controller.close()
            await self._engine.close()
            self._printer.fresh()
            for task in self._tasks:
                task.cancel()
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                loop.remove_signal_handler(number)

    async def _begin(self) -> None:
        for problem in self._reading.errors:
            self.view.show_notice(
                Notice(f"Settings: {problem}.", f"{self._paths.settings} is left as it is.", "warning")
            )
        if self._options.resume or self._options.continue_last:
            await self._actions.open(self._options.resume)
        choice, notice = first_choice(self._options, self._reading.settings, self._paths)
        if notice:
            self.view.show_notice(notice)
        await self.link.open(choice)
        self.view.prompt()

    async def _converse(self, descriptor: int) -> None:
        async for line in lines(descriptor):
            self._printer.entered()
            await self._take(line)
            if self._over.done():
                return
            self.view.prompt()
        while self.controller.reply is not None or self.controller.pending:
            await asyncio.sleep(0.05)  # what was asked before the input ended is answered
        self._leave(exit_codes.DONE)

    async def _take(self, line: str) -> None:
        text = line.strip()
        if text.startswith("/") and not text.startswith("//"):
            word, _, argument = text[1:].partition(" ")
            meant = find(word.lower())
            if len(meant) != 1:
                among = " or ".join(f"/{name}" for name in meant)
                self._printer.line(
                    f"/{word} is {among}?" if among else f"There is no /{word}; /help lists the commands."
                )
            elif meant == ["quit"]:
                self._leave(exit_codes.DONE)
            else:
                await self._actions.run(meant[0], argument.strip())
        elif text:
            self.controller.send(text.removeprefix("/") if text.startswith("//") else line)
            if self.controller.pending:
                self._printer.line("[it is sent as soon as the engine is free; /stop takes it back]")

    def _interrupt(self) -> None:
        """ctrl+c: stop what runs; with nothing to stop, twice leaves."""
        self._printer.fresh()
        if self.controller.stop():
            return
        if time.monotonic() - self._interrupted < _TWICE_SECONDS:
            self._leave(exit_codes.DONE)
            return
        self._interrupted = time.monotonic()
        self._printer.line("ctrl+c again leaves.")
        self.view.prompt()

    def _leave(self, code: int) -> None:
        if not self._over.done():
            self._over.set_result(code)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if task.cancelled() or self._over.done():
            return
        if error := task.exception():
            self._over.set_exception(error)
        else:
            self.view.prompt()
