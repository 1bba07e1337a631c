"""Giving the chat on screen away as a file, and taking in such files."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast, get_args

from edge0_tui.chat.errors import StoreError
from edge0_tui.controller import Controller
from edge0_tui.library import Library
from edge0_tui.notices import Notice
from edge0_tui.paths import Paths
from edge0_tui.screens.writing import WritingScreen

if TYPE_CHECKING:
    from edge0_tui.arrival import Arrival
    from edge0_tui.exchange.formats import Format


class ExchangeActions(WritingScreen):
    """What `ChatScreen` builds on for export and import."""

    def __init__(self, controller: Controller, library: Library, paths: Paths) -> None:
        super().__init__(controller, paths)
        self.library = library

    # --- export ---

    def action_export_chat(self) -> None:
        from edge0_tui.chat.names import slug
        from edge0_tui.screens.export import ExportScreen

        chat = self.controller.conversation
        if not chat.turns:
            self.show_notice(Notice("There is nothing to export yet."))
            return

        async def export(choice: ExportScreen.Choice | None) -> None:
            if choice is not None:
                await self._export(*choice)

        self.app.push_screen(ExportScreen(slug(chat.title) or "chat", len(chat.path) < len(chat.turns)), export)

    async def export_to(self, wanted: str) -> bool:
        from edge0_tui.exchange.formats import Format

        formats = get_args(Format)
        if not self.controller.conversation.turns:
            self.tell("There is nothing to export yet.")
            return False
        if wanted.lower() in formats:
            return await self._export(cast("Format", wanted.lower()), False, Path.cwd())
        target = Path(wanted.strip('"')).expanduser()
        format = target.suffix[1:].lower()
        if format not in formats:
            self.tell(f"{wanted} does not say a format.", "It is md, html or json, or a file that ends so.")
            return False
        return await self._export(cast("Format", format), False, target)

    async def _export(self, format: Format, branch: bool, target: Path) -> bool:
        id = self.controller.conversation.id
        work = partial(self.library.collection.export, id, format, target, branch=branch)
        try:
            self.show_notice(Notice(f"Written: {await asyncio.to_thread(work)}"))
        except StoreError as error:
            self.show_notice(Notice(f"{error.filename}: {error.strerror}", tone="error"))
            return False
        return True

    # --- import ---

    def action_import_chats(self) -> None:
        self._choose("")

    async def take_in(self, wanted: Sequence[Path]) -> bool:
        from edge0_tui.arrival import take_in

        if len(wanted) == 1 and wanted[0].is_dir():
            self._choose(f"{wanted[0]}/")
            return True
        arrival = await asyncio.to_thread(take_in, self.library.collection, wanted)
        await self._arrived(arrival)
        return not arrival.refused

    def _choose(self, typed: str) -> None:
        from edge0_tui.screens.import_chats import ImportScreen

        self.app.push_screen(ImportScreen(self.library.collection, typed), self._arrived)

    async def _arrived(self, arrival: Arrival | None) -> None:
        """A chat that came alone is what the person wants to see."""
        if arrival is None or not (arrival.taken or arrival.refused):
            return
        if len(arrival.taken) == 1:
            await self._open_chat(arrival.taken[0].conversation.id)
        hint = "{key:chats} lists them." if len(arrival.taken) > 1 else ""
        self.tell(arrival.words, hint, "error" if arrival.refused else "info")

    async def _open_chat(self, id: str | None) -> None:
        """Show a saved chat; the chat screen's matter."""
        raise NotImplementedError
