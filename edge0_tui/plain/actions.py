"""What the commands do."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from edge0_tui.chat.conversation import Conversation
from edge0_tui.chat.errors import StoreError
from edge0_tui.choice import Choice
from edge0_tui.library import Library, ago
from edge0_tui.plain.commands import help_lines
from engine.errors import EngineError

if TYPE_CHECKING:
    from edge0_tui.chat.store import TranscriptStore
    from edge0_tui.chat.summary import Summary
    from edge0_tui.controller import Controller
    from edge0_tui.paths import Paths
    from edge0_tui.plain.printer import Printer
    from edge0_tui.plain.view import PlainView

_CHATS, _LOG_LINES = 20, 20


class Actions:
    """One method for each command that is more than a word to the session."""

    def __init__(
        self, controller: Controller, view: PlainView, store: TranscriptStore, paths: Paths, printer: Printer
    ) -> None:
        self._controller, self._view, self._store = controller, view, store
        self._library = Library(lambda: store, paths)
        self._paths, self._printer = paths, printer
        self._listed: Sequence[Summary] = ()

    async def run(self, name: str, argument: str) -> None:
        """Carry out the command of this name, one of `commands.NAMES` except quit."""
        match name:
            case "help":
                for line in help_lines():
                    self._printer.line(line)
            case "new":
                await self._controller.settle()
                await self._controller.open(Conversation())
            case "stop":
                if not self._controller.stop():
                    self._printer.line("There is nothing to stop.")
            case "model":
                await self._model(argument)
            case "chats":
                await self._chats()
            case "open":
                await self.open(argument)
            case "draft":
                self._draft()
            case "edit":
                await self._edit()
            case "figures":
                self._figures()
            case "log":
                self._log()
            case "restart":
                await self._controller.link.restart()

    async def open(self, wanted: str) -> None:
        """A chat by its number in the list or its id; the last one if nothing is said."""
        try:
            id = wanted or await self._last()
            if wanted.isdecimal() and self._listed:
                if not 1 <= int(wanted) <= len(self._listed):
                    self._printer.line(f"There is no number {wanted} in the list.")
                    return
                id = self._listed[int(wanted) - 1].id
            if not id:
                self._printer.line("There is no saved chat.")
                return
            await self._controller.settle()
            loaded = await asyncio.to_thread(self._store.open, id)
        except StoreError as error:
            self._printer.line(f"{error.filename}: {error.strerror}")
            return
        await self._controller.open(loaded.conversation)
        if loaded.note:
            self._printer.line(f"Warning: {loaded.note}")

    async def _last(self) -> str:
        line = await self._library.last()
        return line.id if line else ""

    async def _chats(self) -> None:
        from datetime import UTC, datetime

        try:
            found = await asyncio.to_thread(self._store.list)
        except StoreError as error:
            self._printer.line(f"{error.filename}: {error.strerror}")
            return
        self._listed = [chat for chat in found if not chat.archived][:_CHATS]
        for number, chat in enumerate(self._listed, 1):
            when = chat.problem or ago(chat.updated, datetime.now(UTC))
            self._printer.line(f"{number}. {chat.title or '(no title)'}, {when}")
        if not self._listed:
            self._printer.line("There is no saved chat.")
        elif len(found) > len(self._listed):
            self._printer.line("`edge0-tui transcripts ls` lists all of them.")

    async def _model(self, name: str) -> None:
        from edge0_tui.installed import installed_models, resolve

        link = self._controller.link
        if not name:
            if link.info:
                self._printer.line(
                    f"Loaded: {link.info.name}, adapter {link.info.adapter}, routing {link.info.routing}."
                )
            for model in await asyncio.to_thread(installed_models, self._paths):
                if model.loadable:
                    self._printer.line(f"/model {model.name}  ({model.source})")
            return
        try:
            path = await asyncio.to_thread(resolve, name, self._paths)
        except EngineError as error:
            self._printer.line(f"{error.message} {error.hint}")
            return
        await link.load(Choice(path, label=name if name != path else ""))

    def _draft(self) -> None:
        if text := self._view.draft():
            self._controller.send(text)
        else:
            self._printer.line("There is nothing written that was not sent.")

    async def _edit(self) -> None:
        from edge0_tui.editor import EditorError, edit

        try:
            text = edit("")
        except EditorError as error:
            self._printer.line(f"Error: {error}")
            return
        if text.strip():
            self._printer.line(text)
            self._controller.send(text)

    def _figures(self) -> None:
        from edge0_tui import units
        from edge0_tui.quantities import QUANTITIES

        values = self._controller.figures.values()
        known = [(quantity.label, values.get(quantity.id, units.UNKNOWN)) for quantity in QUANTITIES]
        known = [(label, value) for label, value in known if value != units.UNKNOWN]
        for label, value in known:
            self._printer.line(f"{label}: {value}")
        if not known:
            self._printer.line("Nothing has been measured yet.")

    def _log(self) -> None:
        from edge0_tui.log_tail import tail

        for line in tail(self._paths.engine_log)[-_LOG_LINES:]:
            self._printer.line(line)
