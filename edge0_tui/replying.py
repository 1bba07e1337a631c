"""Answers being written: from a turn without text to one that is finished and saved. No Textual here."""

from __future__ import annotations

import contextlib
import dataclasses
import time
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from edge0_tui.chat.chat_sampling import resolve
from edge0_tui.chat.conversation import Conversation
from edge0_tui.chat.turn import Attribution, Turn
from edge0_tui.context_warning import CONTEXT, ContextWarning
from edge0_tui.engine_link import LIFE, EngineLink
from edge0_tui.figures import Figures
from edge0_tui.notices import Notice
from edge0_tui.reply import Reply
from edge0_tui.saver import Saver
from edge0_tui.settings import Settings
from edge0_tui.view import ChatView
from engine.interface import EngineDied, new_id
from engine.protocol import Delta, Failed, Finished, Generate, Message, ModelInfo, Prefilling, Sampling

if TYPE_CHECKING:
    from edge0_tui.chat.store import Saved

SAVING = "saving"


class Replying:
    """What `Controller` builds on: the conversation, the one reply that may be under way, and its saving."""

    def __init__(
        self,
        settings: Settings,
        save: Callable[[Conversation], Saved],
        spawn: Callable[[Coroutine[Any, Any, None]], object],
    ) -> None:
        self.conversation = Conversation()
        self.figures = Figures()
        self.pending = ""
        self.reply: Reply | None = None
        self.settings = settings
        self.replied: Callable[[ModelInfo, Finished], None] = lambda model, finished: None
        self.link: EngineLink
        self._view: ChatView
        self._spawn = spawn
        self._saver = Saver(save, self._has_saved, self._cannot_save, settings.chat.autosave_seconds)
        self._warning = ContextWarning()
        self._looked = False

    def sampling(self, info: ModelInfo) -> Sampling:
        """The checkpoint's own sampling, changed where the settings or the chat say so."""
        return resolve(info.sampling, dataclasses.asdict(self.settings.sampling), self.conversation.sampling)

    def new_answer(self, question: str) -> Turn:
        """An answer below this question that nobody has begun to write; the engine must be ready."""
        info = self.link.info
        assert info is not None
        about = Attribution(
            model=info.name,
            tier=info.tier,
            adapter=info.adapter,
            revision=info.revision,
            routing=info.routing,
            sampling=self.sampling(info),
            finish_reason="interrupted",
        )
        return Turn("assistant", parent=question, attribution=about)

    def write(self, answer: Turn, *, drop_oldest: bool = False) -> None:
        """Have the engine write this turn of the conversation on screen, from where its text stops."""
        info = self.link.info
        assert info is not None
        sampling = self.sampling(info)
        self.reply = Reply(new_id(), self.conversation, answer, info, sampling, drop_oldest=drop_oldest)
        self.figures.begin_reply()
        for topic in (LIFE, CONTEXT):
            self._view.close_notice(topic)
        self._view.show_reply(answer, info.name)
        self._view.changed()
        self._spawn(self._run(self.reply))

    def drafted(self) -> None:
        """What stands in the prompt may have changed; it is kept like an answer being written."""
        if self._draft() != self.conversation.draft:
            self._saver.later(self.conversation.id, self._so_far)

    def adopt(self, changed: Conversation) -> None:
        """Name and marks of a chat were changed on disk; they must not be undone by the next save."""
        for holder in (self, self.reply):
            if holder is not None and holder.conversation.id == changed.id:
                holder.conversation = dataclasses.replace(
                    holder.conversation, name=changed.name, pinned=changed.pinned, archived=changed.archived
                )
        self._view.changed()

    def _next(self) -> None:
        """Called whenever the engine may have become free."""

    async def _run(self, reply: Reply) -> None:
        await self._saver.now(reply.conversation)
        if reply.stopping or not reply.shown:
            await self._finish(reply, "cancelled", None)
            return
        reason, seed, refusal = "error", None, ""
        try:
            async with contextlib.aclosing(self.link.generate(self._request(reply))) as events:
                async for event in events:
                    match event:
                        case Prefilling():
                            self._count(reply, event)
                            self.figures.prefill = (event.done, event.total)
                        case Delta():
                            self._count(reply, event)
                            self.figures.prefill = None
                            reply.take(event.pieces)
                            self._saver.later(reply.conversation.id, self._so_far if reply.shown else reply.so_far)
                            if reply.shown:
                                self._view.show_pieces(event.pieces, reply.thinking_tokens)
                        case Finished():
                            self._count(reply, event)
                            reply.whole(event.text, event.thinking)
                            reason, seed = event.finish_reason, event.seed
                            self.replied(reply.model, event)
                        case Failed():
                            if event.text or event.thinking:
                                reply.whole(event.text, event.thinking)
                            if event.kind == "context":
                                refusal = event.message
                            else:
                                self._view.show_notice(Notice(event.message, event.hint, "error"))
                        case _:
                            pass
                    self._view.changed()
        except EngineDied:
            pass  # the link tells and recovers; what was said so far is kept below
        await self._finish(reply, reason, seed)
        if refusal and reply.shown:
            self._view.ask_for_room(reply.turn, refusal)

    def _request(self, reply: Reply) -> Generate:
        messages = reply.conversation.messages()
        if reply.turn.thinking and not reply.turn.text:
            # Without an answer the turn is no message, except for going on with its thought.
            messages.append(Message("assistant", "", reply.turn.thinking))
        return Generate(
            reply.id,
            messages,
            sampling=reply.sampling,
            thinking=self.settings.chat.thinking and reply.model.supports_thinking,
            measure_agreement=self.settings.model.measure_agreement,
            drop_oldest=reply.drop_oldest,
        )

    async def _finish(self, reply: Reply, reason: str, seed: int | None) -> None:
        finished = reply.finish(reason, seed)
        self.figures.prefill = None
        if reply.shown:
            self.conversation = finished = dataclasses.replace(finished, draft=self._draft())
            if reply.turn.attribution:
                self._view.show_finish(reply.turn.attribution)
            if notice := self._warning.check(finished.id, self.figures.context):
                self._view.show_notice(notice)
        self.reply = None
        self._next()
        self._view.changed()
        await self._saver.now(finished)
        reply.over.set()

    def _count(self, reply: Reply, event: Prefilling | Delta | Finished) -> None:
        reply.counters = event.counters
        if reply.shown:
            self.figures.update(event.counters, time.monotonic())

    # --- saving ---

    async def _keep_draft(self) -> None:
        draft = self._draft()
        if self.reply is None and (draft != self.conversation.draft or self._looked):
            self._looked = False
            self.conversation = dataclasses.replace(self.conversation, draft=draft)
            await self._saver.now(self.conversation)

    def _draft(self) -> str:
        """What was written and has not been sent: a waiting message, too."""
        return "\n".join(filter(None, (self.pending, self._view.draft())))

    def _so_far(self) -> Conversation:
        """The conversation on screen with all that is being written in it, by either side."""
        present = self.reply.so_far() if self.reply is not None and self.reply.shown else self.conversation
        return dataclasses.replace(present, draft=self._draft())

    def _has_saved(self, saved: Saved) -> None:
        """Another instance may have added to the chat; what it wrote must not be lost by our next save."""
        if saved.note:
            self._view.show_notice(Notice(saved.note, tone="warning"))
        self.adopt(saved.conversation)
        if self.conversation.id == saved.conversation.id:
            self.conversation = dataclasses.replace(self.conversation, draft=saved.conversation.draft)
        for holder in (self, self.reply):
            if holder is not None and holder.conversation.id == saved.conversation.id:
                turns = {**saved.conversation.turns, **holder.conversation.turns}
                holder.conversation = dataclasses.replace(holder.conversation, turns=turns)

    def _cannot_save(self, error: OSError) -> None:
        reason = error.strerror or str(error)
        message = (
            f"This conversation cannot be saved: {reason} ({error.filename})."
            if error.filename
            else (f"This conversation cannot be saved: {reason}.")
        )
        self._view.show_notice(Notice(message, "It goes on in memory.", "warning", SAVING))
