"""The conversation on screen: what a person does with it, and what the engine link tells. No Textual here."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
from functools import cached_property

from edge0_tui.branching import Branching
from edge0_tui.chat.chat_sampling import ChatSampling
from edge0_tui.chat.conversation import Conversation
from edge0_tui.chat.turn import Turn
from edge0_tui.engine_link import EngineLink
from edge0_tui.notices import Notice
from edge0_tui.replying import SAVING, Replying
from edge0_tui.settings import Settings
from edge0_tui.view import ChatView
from engine.protocol import ModelInfo

__all__ = ["SAVING", "ChatView", "Controller"]

_SETTLE_SECONDS = 2.0


class Controller(Replying):
    """Listens to the engine link; tells the view. `pending` is the one message that may wait its turn."""

    def attach(self, view: ChatView, link: EngineLink) -> None:
        """Both need the controller to be made first; nothing else may be called before."""
        self._view, self.link = view, link

    @cached_property
    def branching(self) -> Branching:
        """What can be done with the messages that are there already."""
        return Branching(self, self._view)

    def apply(self, settings: Settings) -> None:
        self.settings = settings
        self._saver.interval = settings.chat.autosave_seconds

    @property
    def free(self) -> bool:
        """Whether a message would be answered at once."""
        return self.reply is None and self.link.phase == "ready" and not self.branching.comparing

    # --- what a person does ---

    def send(self, text: str) -> None:
        """Send, or keep for when the engine is free; a second waiting message goes back to the prompt."""
        if self.pending:
            self._view.give_back(text)
            self._view.show_notice(
                Notice("One message is already waiting.", "{key:stop} takes it back.", "warning")
            )
        elif self.free:
            self._begin(text)
        elif self.branching.editing:
            self._view.give_back(text)
            self._view.show_notice(
                Notice("A new version cannot wait.", "Send it when the engine is free.", "warning")
            )
        else:
            self.pending = text
            self.drafted()
            self._view.changed()

    def stop(self) -> bool:
        """Stop the reply, else take back the waiting message, else leave an edit, else stop the load. True if there
        was one."""
        if self.reply is not None and self.reply.shown and not self.reply.stopping:
            self.reply.stopping = True
            self.link.stop(self.reply.id)
        elif self.pending:
            text, self.pending = self.pending, ""
            self._view.give_back(text)
        elif not self.branching.leave_edit() and not self.link.stop_load():
            return False
        self._view.changed()
        return True

    async def open(self, conversation: Conversation) -> None:
        """Show another conversation; call `settle` before reading it from disk."""
        self.branching.leave_edit()
        if self.pending:
            self._view.give_back(self.pending)
            self.pending = ""
        if self.reply is not None:
            self.reply.conversation = dataclasses.replace(self.reply.conversation, draft=self._draft())
            self.reply.shown = False
        await self._keep_draft()
        self.conversation = conversation
        self.branching.beside = ()
        self.figures.counters = None
        self.figures.context_known = not conversation.turns
        self.figures.begin_reply()
        await self._view.show_conversation(conversation)
        self._view.changed()

    async def settle(self) -> None:
        """Stop a reply and wait until its end is saved, but not for an engine that hangs."""
        if self.reply is not None:
            self.reply.stopping = True
            self.link.stop(self.reply.id)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self.reply.over.wait(), _SETTLE_SECONDS)

    async def close(self) -> None:
        """Save what has been said and end the engine."""
        self.branching.leave_edit()
        await self.settle()
        if self.reply is not None:
            await self._saver.now(self.reply.so_far())
        await self._keep_draft()
        await self._saver.close()
        await self.link.close()

    def look_at(self, conversation: Conversation) -> None:
        """The same conversation with another branch on screen, or with a new turn; it is saved in a while."""
        self.conversation = conversation
        self._looked = True
        self._saver.later(conversation.id, self._so_far)
        self._view.changed()

    def free_again(self) -> None:
        """A comparison is over: what waited for it may go."""
        self._next()
        self._view.changed()

    # --- what the engine says ---

    def link_changed(self) -> None:
        self.figures.info = self.link.info
        self.figures.footprint = self.link.footprint or self.figures.footprint
        self._view.changed()

    def link_loaded(self, info: ModelInfo) -> None:
        self.figures.info = info
        self.figures.counters = None
        self.figures.context_known = not self.conversation.turns
        self._next()
        self._view.changed()

    def link_notice(self, notice: Notice) -> None:
        self._view.show_notice(notice)

    def link_notice_over(self, topic: str) -> None:
        self._view.close_notice(topic)

    # --- a question ---

    def change_chat(self, *, system: str | None = None, sampling: ChatSampling | None = None) -> None:
        """Another system prompt or sampling for this chat, from the next answer on; kept with it."""
        chat = self.conversation
        self.conversation = dataclasses.replace(
            chat,
            system=chat.system if system is None else system,
            sampling=chat.sampling if sampling is None else sampling,
        )
        if self.reply is not None and self.reply.conversation.id == chat.id:
            self.reply.conversation = dataclasses.replace(
                self.reply.conversation, system=self.conversation.system, sampling=self.conversation.sampling
            )
        self._view.changed()
        if chat.turns:  # a chat in which nothing was said is saved with its first message
            self._saver.later(chat.id, self._so_far)

    def _next(self) -> None:
        if self.pending and self.free:
            text, self.pending = self.pending, ""
            self._begin(text)

    def _draft(self) -> str:
        """While an edit stands in the prompt, the draft is what stood there before."""
        if self.branching.editing:
            return self.branching.set_aside
        return super()._draft()

    def _begin(self, text: str) -> None:
        edited = self.branching.edited()
        last = self.conversation.last
        question = Turn("user", text, parent=edited.parent if edited else last.id if last else None)
        answer = self.new_answer(question.id)
        present = dataclasses.replace(self.conversation, draft="")
        self.conversation = present.add(question).add(answer)
        if edited:
            self._view.show_branch(self.conversation, without=answer.id)
        else:
            self._view.show_user(question)
        self.write(answer)
