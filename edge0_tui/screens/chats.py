"""Saved chats: found by typing, looked at beside the list, opened with enter. What can be done to one of them is
in `chats_actions`."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from typing import ClassVar

from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.message import Message
from textual.style import Style
from textual.widgets import Input, Static

from edge0_tui import keys
from edge0_tui.chat.errors import StoreError
from edge0_tui.chat.index import Hit
from edge0_tui.chat.preview import preview
from edge0_tui.chat.query import Query, Snippet, spans
from edge0_tui.chat.summary import Summary
from edge0_tui.chat.trash import Deleted
from edge0_tui.collection import Collection
from edge0_tui.controller import Controller
from edge0_tui.library import ago
from edge0_tui.screens.chats_actions import ChatActions
from edge0_tui.screens.chats_find import Finder, Found
from edge0_tui.widgets.chat_list import ChatList, ChatRow
from edge0_tui.widgets.chat_preview import ChatPreview
from edge0_tui.widgets.key_bar import KeyBar

PREVIEW_FROM = 100
VIEWS = ("Chats", "Archived", "Deleted")


class ChatsScreen(ChatActions):
    """Answers with the id of the chosen chat. Everything that reads the disk runs beside the screen."""

    CSS_PATH = ["dialog.tcss", "chats.tcss"]
    BINDINGS: ClassVar[list[BindingType]] = [
        *(
            Binding(key, f"move({step})", show=False, priority=True)
            for key, step in (("down", 1), ("up", -1), ("pagedown", 10), ("pageup", -10))
        ),
        *keys.bindings("chats"),
    ]

    class Told(Message):
        """The finder has something, said from its thread."""

        def __init__(self, found: Found) -> None:
            super().__init__()
            self.found = found

    def __init__(
        self,
        collection: Collection,
        controller: Controller,
        gone: Callable[[str], Awaitable[None]],
        words: str = "",
    ) -> None:
        """`words` are in the search field at first."""
        super().__init__(collection, controller, gone)
        self._words = words
        self._finder = Finder(collection, lambda found: self.post_message(self.Told(found)))
        self._chats: Sequence[Summary] = ()
        self._deleted: Sequence[Deleted] = ()
        self._wanted: tuple[str | None, int] = (None, 0)
        self._search = 0

    def compose(self) -> ComposeResult:
        with Vertical(classes="sheet"):
            yield Static("", id="chats-views", markup=False)
            yield Input(self._words, placeholder="Search titles and texts", compact=True, id="chats-search")
            with Horizontal(id="chats-middle"):
                yield ChatList(id="chats-list")
                yield ChatPreview(id="chats-preview")
            yield Static("", id="chats-note", markup=False)
            yield KeyBar(id="chats-keys")
            yield KeyBar(id="chats-keys-more")
            yield KeyBar(id="chats-keys-last")

    async def on_mount(self) -> None:
        self.lay_out()
        self.query_one(Input).focus()
        await self.reload()
        self._warm()

    def on_unmount(self) -> None:
        self._finder.stop()

    def on_resize(self) -> None:
        self.lay_out()

    def lay_out(self) -> None:
        """The preview comes where there is room for both; without it the sheet is a drawer."""
        wide = self.app.size.width >= PREVIEW_FROM
        self.query_one(ChatPreview).display = wide
        self.query_one(".sheet").set_class(wide, "-wide")

    # --- what is listed -------------------------------------------------------------------------------------

    async def reload(self, choose: str | None = None) -> None:
        """Read the list anew; the cursor goes to this chat, else stays about where it is."""
        self._wanted = (choose, self.query_one(ChatList).at)
        read = await self.attempt(lambda: (self.collection.chats(), self.collection.deleted()))
        if read is not None:
            self._chats, self._deleted = read
            self._finder.forget()
            self.find()

    def find(self) -> None:
        """Show what fits the search field in the present view."""
        query = Query.parse(self.query_one(Input).value)
        self.listed = {}
        if self.view == "Deleted":
            self.listed = {entry.key: entry.summary for entry in self._deleted}
            fitting = [
                (key, chat)
                for key, chat in self.listed.items()
                if not query.words or spans(chat.title, query.words)
            ]
            self._finder.stop()
            self._show([self._row(Hit(chat, Snippet("")), query, key) for key, chat in fitting], True, True)
            return
        among = [chat for chat in self._chats if chat.archived == (self.view == "Archived")]
        if query.words:
            self._search = self._finder.begin(query, among)
        else:
            self._finder.stop()
            self._show([self._row(Hit(chat, Snippet("")), query) for chat in among], True, True)

    @on(Told)
    def _told(self, event: Told) -> None:
        found = event.found
        if found.search == self._search and self.is_attached:
            query = Query.parse(self.query_one(Input).value)
            self._show([self._row(hit, query) for hit in found.hits], found.first, found.over)
            if found.problem:
                self.say(found.problem, "error")

    def _row(self, hit: Hit, query: Query, key: str = "") -> ChatRow:
        chat = hit.summary
        self.listed[key or chat.id] = chat
        lit = spans(chat.title, query.words) if query.words else ()
        marked = chat.id == self.controller.conversation.id and not key
        age = ago(chat.updated, datetime.now(UTC))
        return ChatRow(key or chat.id, chat.title, age, lit, hit.snippet, chat.pinned, marked, chat.problem)

    def _show(self, rows: Sequence[ChatRow], first: bool, over: bool) -> None:
        view = self.query_one(ChatList)
        if first:
            view.show(rows, *self._wanted)
            self._wanted = (None, 0)
        else:
            view.add(rows)
        if over:
            self.say("" if view.rows else self._nothing())
        self._head()
        if not view.rows:
            self.query_one(ChatPreview).show(None)

    def _nothing(self) -> str:
        if self.query_one(Input).value.strip():
            return f"No chat here has all these words{' in its title' if self.view == 'Deleted' else ''}."
        if self.view == "Deleted":
            return "Nothing has been deleted. What is stays here for 30 days."
        return "No chat is archived." if self.view == "Archived" else "No conversation yet."

    def _head(self) -> None:
        archived = sum(chat.archived for chat in self._chats)
        counts = len(self._chats) - archived, archived, len(self._deleted)
        parts = []
        for name, count in zip(VIEWS, counts, strict=True):
            style = "$primary bold" if name == self.view else "$text-muted"
            part = Content.assemble((name, style), (f" {count:,}", "$text-muted"))
            parts.append(part.stylize(Style.from_meta({"view": name})))
        self.query_one("#chats-views", Static).update(Content("   ").join(parts))

    # --- what a person does ---------------------------------------------------------------------------------

    @on(Input.Changed)
    def _narrow(self, event: Input.Changed) -> None:
        event.stop()
        self._wanted = (None, 0)
        self.find()

    @on(events.Click, "#chats-views")
    def _view_clicked(self, event: events.Click) -> None:
        if name := event.style.meta.get("view"):
            self.look_at(name)

    def look_at(self, view: str) -> None:
        """Go to one of the `VIEWS`."""
        self.view, self._wanted = view, (None, 0)
        self.find()

    def action_chats_view(self) -> None:
        self.look_at(VIEWS[(VIEWS.index(self.view) + 1) % len(VIEWS)])

    async def action_chats_open(self) -> None:
        if self.view == "Deleted":
            await self.restore_chosen()
        elif (id := self.query_one(ChatList).chosen) is not None:
            self.dismiss(id)

    @on(ChatList.Opened)
    async def _clicked(self) -> None:
        await self.action_chats_open()

    def action_move(self, step: int) -> None:
        view = self.query_one(ChatList)
        view.go_to(view.at + step, animate=False)

    # --- beside the list ------------------------------------------------------------------------------------

    @on(ChatList.Chosen)
    def _looked_at(self) -> None:
        self.show_keys()
        if (chat := self.chosen) is not None and self.query_one(ChatPreview).display:
            self._preview(chat, Query.parse(self.query_one(Input).value).words)

    @work(exclusive=True, group="preview")
    async def _preview(self, chat: Summary, words: Sequence[str]) -> None:
        try:
            said = [] if chat.problem else await asyncio.to_thread(preview, chat.path)
        except StoreError:
            said = []
        self.query_one(ChatPreview).show(chat, said, words)

    @work(thread=True, exit_on_error=False, group="warm")
    def _warm(self) -> None:
        """So that the first search finds all texts read, if there is time before it."""
        self.collection.warm(lambda: not self.is_attached or self._search > 0)
