"""The chat: what a person does there. What it looks like is in `chat_view`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import SuspendNotSupported
from textual.binding import BindingType

from edge0_tui import keys
from edge0_tui.chat.conversation import Conversation
from edge0_tui.chat.errors import StoreError
from edge0_tui.choice import Choice
from edge0_tui.controller import SAVING
from edge0_tui.library import ChatLine
from edge0_tui.notices import Notice
from edge0_tui.options import AppOptions
from edge0_tui.paths import Paths
from edge0_tui.screens.chat_messages import MessageActions
from edge0_tui.screens.chat_view import PANEL_ASKED_FROM, PANEL_FROM
from edge0_tui.widgets.banner import Banner
from edge0_tui.widgets.prompt import Prompt
from edge0_tui.widgets.transcript import Transcript

if TYPE_CHECKING:
    from edge0_tui.controller import Controller
    from edge0_tui.library import Library
    from edge0_tui.model_desk import ModelDesk


class ChatScreen(MessageActions):
    """One method for each action of scope "chat" in `keys`, and what the widgets ask for."""

    BINDINGS: ClassVar[list[BindingType]] = keys.bindings("chat")
    VERTICAL_BREAKPOINTS = []  # `lay_out` does that; see `update_node_styles`

    def __init__(
        self, controller: Controller, library: Library, paths: Paths, desk: Callable[[], ModelDesk]
    ) -> None:
        super().__init__(controller, library, paths)
        self._desk = desk

    async def show_last(self, options: AppOptions) -> None:
        """At the start: offer the last conversation, or open the one the command line asks for."""
        if options.resume:
            await self._open_chat(options.resume)
            return
        try:
            self.offer = await self.library.last()
        except StoreError as error:
            self.show_notice(Notice(f"{error.filename}: {error.strerror}", tone="warning", topic=SAVING))
        if options.continue_last and self.offer is not None:
            await self.action_resume()
        self.changed()

    @on(Prompt.Changed, "#prompt")
    def _drafted(self) -> None:
        self.controller.drafted()

    @on(Transcript.CopyRequested)
    def _copy(self, event: Transcript.CopyRequested) -> None:
        self.app.copy_to_clipboard(event.text)

    @on(Transcript.LinkClicked)
    def _open_link(self, event: Transcript.LinkClicked) -> None:
        self.app.open_url(event.href)

    @on(Prompt.EnteredEmpty)
    async def _go_on(self) -> None:
        if not self.query_one(Transcript).display:
            await self.action_resume()

    async def action_resume(self) -> None:
        if self.offer is not None:
            await self._open_chat(self.offer.id)

    def action_send(self) -> None:
        self.query_one(Prompt).submit()

    def action_newline(self) -> None:
        self.query_one(Prompt).insert("\n")

    def action_stop(self) -> None:
        if not self.controller.stop():
            self.query_one(Banner).close()

    async def action_new_chat(self) -> None:
        await self.controller.settle()
        left = self.controller.conversation
        if left.turns:
            self.offer = ChatLine(left.id, left.title)
        await self.controller.open(Conversation())

    def action_toggle_thinking(self) -> None:
        self.query_one(Transcript).toggle_thinking()

    def action_toggle_panel(self) -> None:
        """Where there is not quite room for both, the panel comes only when asked for."""
        if self.app.size.width < PANEL_ASKED_FROM:
            self.show_notice(Notice(f"The figures need {PANEL_ASKED_FROM} columns."))
            return
        shown = self.query_one("#panel-scroll").display
        self.panel_wanted = not shown
        self.panel_asked = not shown and self.app.size.width < PANEL_FROM
        self.lay_out()

    def action_restart_engine(self) -> None:
        self.run_worker(self.controller.link.restart())

    def action_copy_answer(self) -> None:
        answers = [
            turn.text for turn in self.controller.conversation.path if turn.role == "assistant" and turn.text
        ]
        if answers:
            self.app.copy_to_clipboard(answers[-1])
        else:
            self.show_notice(Notice("There is no answer to copy yet."))

    def action_edit_in_editor(self) -> None:
        from edge0_tui.editor import EditorError, edit

        prompt = self.query_one(Prompt)
        try:
            with self.app.suspend():
                text = edit(prompt.whole)
        except (EditorError, SuspendNotSupported) as error:
            self.show_notice(Notice(str(error) or "This terminal cannot be lent to an editor.", tone="error"))
            return
        prompt.put(text)

    def action_models(self) -> None:
        self.open_models()

    def open_models(self, line: str = "") -> None:
        """The models screen, with the plan of this line shown first."""
        from edge0_tui.screens.models import ModelsScreen

        self.app.push_screen(ModelsScreen(self._desk(), line), self._load)

    def _load(self, choice: Choice | None) -> None:
        if choice is not None:
            self.switch(choice)

    def switch(self, choice: Choice) -> None:
        self.run_worker(self._switch(choice))

    async def _switch(self, choice: Choice) -> None:
        from edge0_tui.load_report import load_report

        link = self.controller.link
        before = link.info
        await link.load(choice)
        if link.loaded == choice and link.info is not None:  # else it was refused, or a newer load has won
            self.show_notice(load_report(link.info, before))
        self._desk().forget_plans()

    def action_chats(self) -> None:
        self.open_chats()

    def open_chats(self, words: str = "") -> None:
        from edge0_tui.screens.chats import ChatsScreen

        screen = ChatsScreen(self.library.collection, self.controller, self._gone, words)
        self.app.push_screen(screen, self._open_chat)

    async def _gone(self, id: str) -> None:
        """A chat is about to be deleted: it is neither shown nor offered any longer."""
        if id == self.controller.conversation.id:
            await self.action_new_chat()
        if self.offer is not None and self.offer.id == id:
            self.offer = None
        self.changed()

    async def _open_chat(self, id: str | None) -> None:
        if id is None or id == self.controller.conversation.id:
            return
        await self.controller.settle()
        try:
            loaded = await self.library.open(id)
        except StoreError as error:
            self.show_notice(Notice(f"{error.filename}: {error.strerror}", "It is left as it is.", "error"))
            return
        await self.controller.open(loaded.conversation)
        if loaded.note:
            self.show_notice(Notice(loaded.note, tone="warning"))
