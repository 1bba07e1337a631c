"""What can be done to the chat under the cursor of the list: rename, pin, archive, copy, delete, export. And
import, which needs none."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

from textual.widgets import Static

from edge0_tui.arrival import Arrival
from edge0_tui.chat.errors import StoreError
from edge0_tui.chat.store import Saved
from edge0_tui.chat.summary import Summary
from edge0_tui.collection import Collection
from edge0_tui.controller import Controller
from edge0_tui.keymap import keymap_of
from edge0_tui.notices import Tone
from edge0_tui.screens.dialog import Dialog
from edge0_tui.screens.export import ExportScreen
from edge0_tui.screens.import_chats import ImportScreen
from edge0_tui.screens.rename import RenameScreen
from edge0_tui.widgets.chat_list import ChatList
from edge0_tui.widgets.key_bar import KeyBar

Result = TypeVar("Result")
_NARROW = 100
"""Columns below which the changes need two lines: the list is a drawer then."""
_CHANGES = ("rename", "pin", "archive", "delete", "undo", "export", "copy")


class ChatActions(Dialog[str]):
    """The part of `ChatsScreen` that changes something; the chat on screen learns of what happens to it."""

    def __init__(
        self, collection: Collection, controller: Controller, gone: Callable[[str], Awaitable[None]]
    ) -> None:
        super().__init__()
        self.collection, self.controller, self._gone = collection, controller, gone
        self.view = "Chats"
        self.listed: dict[str, Summary] = {}

    async def reload(self, choose: str | None = None) -> None:
        raise NotImplementedError

    @property
    def chosen(self) -> Summary | None:
        """The chat under the cursor."""
        id = self.query_one(ChatList).chosen
        return self.listed.get(id) if id is not None else None

    async def attempt(self, work: Callable[[], Result]) -> Result | None:
        """Do it beside the screen; what hinders it is said."""
        try:
            return await asyncio.to_thread(work)
        except StoreError as error:
            self.say(f"{Path(error.filename).name}: {error.strerror}", "error")
            return None

    def say(self, text: str, tone: Tone = "info") -> None:
        note = self.query_one("#chats-note", Static)
        note.set_class(tone == "error", "-error")
        note.update(text)

    def show_keys(self) -> None:
        """The keys that do something now."""
        chat = self.chosen
        words = {
            "chats_view": {"Chats": "archived", "Archived": "deleted", "Deleted": "chats"}[self.view],
            "chats_open": "restore" if self.view == "Deleted" else "open",
            "chats_pin": "unpin" if chat and chat.pinned else "pin",
            "chats_archive": "unarchive" if chat and chat.archived else "archive",
        }
        second: tuple[str, ...] = _CHANGES if chat and self.view != "Deleted" else ()
        first = (*(("open",) if chat else ()), "view", *(() if second else ("undo",)), "import", "close")
        third: tuple[str, ...] = ()
        if self.app.size.width < _NARROW:
            second, third = second[:5], second[5:]
        for bar, ids in (("#chats-keys", first), ("#chats-keys-more", second), ("#chats-keys-last", third)):
            self.query_one(bar, KeyBar).show(tuple(f"chats_{id}" for id in ids), words)
        self.query_one("#chats-keys-last").display = bool(third)

    # --- the actions ----------------------------------------------------------------------------------------

    def action_chats_rename(self) -> None:
        if (chat := self._changeable()) is not None:

            async def rename(name: str | None) -> None:
                if name is not None:
                    await self._change(chat, lambda: self.collection.rename(chat.id, name))

            self.app.push_screen(RenameScreen(chat.title), rename)

    async def action_chats_pin(self) -> None:
        if (chat := self._changeable()) is not None:
            await self._change(chat, lambda: self.collection.pin(chat.id, not chat.pinned))

    async def action_chats_archive(self) -> None:
        if (chat := self._changeable()) is not None and await self._change(
            chat, lambda: self.collection.archive(chat.id, not chat.archived)
        ):
            self.say(f"“{chat.title}” is {'back among the chats' if chat.archived else 'archived'}.")

    async def action_chats_copy(self) -> None:
        if (chat := self._changeable()) is not None:
            saved = await self.attempt(lambda: self.collection.duplicate(chat.id))
            if saved is not None:
                await self.reload(saved.conversation.id)

    async def action_chats_delete(self) -> None:
        """Damaged files can be deleted, too. Undo brings back whatever it was."""
        if (chat := self.chosen) is None or self.view == "Deleted":
            return
        await self._gone(chat.id)
        if await self.attempt(lambda: self.collection.delete(chat.path)) is not None:
            await self.reload()
            back = keymap_of(self.app).say("{key:chats_undo} brings it back.")
            self.say(f"“{chat.title}” is in the trash for 30 days; {back}")

    async def action_chats_undo(self) -> None:
        path = await self.attempt(self.collection.undo)
        if path is None:
            shows = keymap_of(self.app).say("{key:chats_view} shows what was deleted earlier.")
            self.say(f"There is nothing to undo since the start. {shows}")
        else:
            await self.reload()
            self.say("It is back.")

    async def restore_chosen(self) -> None:
        """Bring back the one under the cursor of the deleted ones."""
        key = self.query_one(ChatList).chosen
        if key is not None and await self.attempt(lambda: self.collection.restore(key)) is not None:
            await self.reload()
            self.say("It is back among the chats.")

    async def action_chats_export(self) -> None:
        if (chat := self._changeable()) is None:
            return
        loaded = await self.attempt(lambda: self.collection.open(chat.id))
        if loaded is None:
            return
        branches = len(loaded.conversation.path) < len(loaded.conversation.turns)

        async def export(choice: ExportScreen.Choice | None) -> None:
            if choice is not None:
                format, branch, target = choice
                written = await self.attempt(lambda: self.collection.export(chat.id, format, target, branch=branch))
                if written is not None:
                    self.say(f"Written: {written}")

        self.app.push_screen(ExportScreen(loaded.path.stem, branches), export)

    def action_chats_import(self) -> None:
        async def arrived(arrival: Arrival | None) -> None:
            if arrival is not None and arrival.taken:
                last = arrival.taken[-1].conversation
                self.view = "Archived" if last.archived else "Chats"
                await self.reload(last.id)
                self.say(arrival.words)

        self.app.push_screen(ImportScreen(self.collection), arrived)

    def action_chats_close(self) -> None:
        self.dismiss(None)

    def _changeable(self) -> Summary | None:
        chat = self.chosen
        if chat is None or self.view == "Deleted":
            return None
        if chat.problem:
            self.say(f"{chat.path.name}: {chat.problem}. It is left as it is.", "error")
            return None
        return chat

    async def _change(self, chat: Summary, work: Callable[[], Saved]) -> bool:
        saved = await self.attempt(work)
        if saved is None:
            return False
        self.controller.adopt(saved.conversation)
        await self.reload(chat.id)
        self.say(saved.note)
        return True
