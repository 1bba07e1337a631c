"""The conversation on screen: what is sent, streamed, stopped, queued and saved. No Textual here."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import time
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, Protocol

from edge0_tui.chat.conversation import Conversation
from edge0_tui.chat.turn import Attribution, Turn
from edge0_tui.engine_link import LIFE, EngineLink
from edge0_tui.figures import Figures
from edge0_tui.notices import Notice
from edge0_tui.reply import Reply
from edge0_tui.saver import Saver
from edge0_tui.settings import Settings
from engine.interface import EngineDied, new_id
from engine.protocol import Delta, Failed, Finished, Generate, ModelInfo, Piece, Prefilling, Sampling

if TYPE_CHECKING:
    from edge0_tui.chat.store import Saved

SAVING = "saving"
_SETTLE_SECONDS = 2.0


class ChatView(Protocol):
    """The screen, as the controller sees it."""

    def changed(self) -> None:
        """Anything outside the transcript may look different now; may be called very often."""

    async def show_conversation(self, conversation: Conversation) -> None: ...

    def show_user(self, turn: Turn) -> None: ...

    def show_reply(self, turn: Turn, model: str) -> None: ...

    def show_pieces(self, pieces: list[Piece], thinking_tokens: int) -> None: ...

    def show_finish(self, attribution: Attribution) -> None: ...

    def show_notice(self, notice: Notice) -> None: ...

    def close_notice(self, topic: str) -> None: ...

    def draft(self) -> str:
        """What stands in the prompt, not sent."""

    def give_back(self, text: str) -> None:
        """Put a text that was not sent back into the prompt."""


class Controller:
    """Listens to the engine link; tells the view. `pending` is the one message that may wait its turn."""

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
        self.link: EngineLink
        self._view: ChatView
        self._spawn = spawn
        self._saver = Saver(save, self._has_saved, self._cannot_save, settings.chat.autosave_seconds)

    def attach(self, view: ChatView, link: EngineLink) -> None:
        """Both need the controller to be made first; nothing else may be called before."""
        self._view, self.link = view, link

    def apply(self, settings: Settings) -> None:
        self.settings = settings
        self._saver.interval = settings.chat.autosave_seconds

    # --- what a person does ---

    def send(self, text: str) -> None:
        """Send, or keep for when the engine is free; a second waiting message goes back to the prompt."""
        if self.pending:
            self._view.give_back(text)
            self._view.show_notice(Notice("One message is already waiting.", "esc takes it back.", "warning"))
        elif self.reply is None and self.link.phase == "ready":
            self._begin(text)
        else:
            self.pending = text
            self.drafted()
            self._view.changed()

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

    def stop(self) -> bool:
        """Stop the reply, else take back the waiting message, else stop the load. True if there was one."""
        if self.reply is not None and self.reply.shown and not self.reply.stopping:
            self.reply.stopping = True
            self.link.stop(self.reply.id)
        elif self.pending:
            text, self.pending = self.pending, ""
            self._view.give_back(text)
        elif not self.link.stop_load():
            return False
        self._view.changed()
        return True

    async def open(self, conversation: Conversation) -> None:
        """Show another conversation; call `settle` before reading it from disk."""
        if self.pending:
            self._view.give_back(self.pending)
            self.pending = ""
        if self.reply is not None:
            self.reply.conversation = dataclasses.replace(self.reply.conversation, draft=self._draft())
            self.reply.shown = False
        await self._keep_draft()
        self.conversation = conversation
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
        await self.settle()
        if self.reply is not None:
            await self._saver.now(self.reply.so_far())
        await self._keep_draft()
        await self._saver.close()
        await self.link.close()

    async def _keep_draft(self) -> None:
        draft = self._draft()
        if self.reply is None and draft != self.conversation.draft:
            self.conversation = dataclasses.replace(self.conversation, draft=draft)
            await self._saver.now(self.conversation)

    def _draft(self) -> str:
        """What was written and has not been sent: a waiting message, too."""
        return "\n".join(filter(None, (self.pending, self._view.draft())))

    def _so_far(self) -> Conversation:
        """The conversation on screen with all that is being written in it, by either side."""
        present = self.reply.so_far() if self.reply is not None and self.reply.shown else self.conversation
        return dataclasses.replace(present, draft=self._draft())

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

    # --- a reply ---

    def sampling(self, info: ModelInfo) -> Sampling:
        """The checkpoint's own sampling, changed where the settings say so."""
        chosen = dataclasses.asdict(self.settings.sampling)
        return dataclasses.replace(
            info.sampling, **{name: value for name, value in chosen.items() if value is not None}
        )

    def _next(self) -> None:
        if self.pending and self.reply is None and self.link.phase == "ready":
            text, self.pending = self.pending, ""
            self._begin(text)

    def _begin(self, text: str) -> None:
        info = self.link.info
        assert info is not None
        last = self.conversation.last
        question = Turn("user", text, parent=last.id if last else None)
        sampling = self.sampling(info)
        answer = Turn(
            "assistant",
            parent=question.id,
            attribution=Attribution(
                model=info.name, tier=info.tier, finish_reason="interrupted", sampling=sampling
            ),
        )
        present = dataclasses.replace(self.conversation, draft="")
        self.conversation = present.add(question).add(answer)
        self.reply = Reply(new_id(), self.conversation, answer, info, sampling)
        self.figures.begin_reply()
        self._view.close_notice(LIFE)
        self._view.show_user(question)
        self._view.show_reply(answer, info.name)
        self._view.changed()
        self._spawn(self._run(self.reply))

    async def _run(self, reply: Reply) -> None:
        await self._saver.now(reply.conversation)
        request = Generate(
            reply.id,
            reply.conversation.messages(),
            sampling=reply.sampling,
            thinking=self.settings.chat.thinking and reply.model.supports_thinking,
            measure_agreement=self.settings.model.measure_agreement,
        )
        reason, seed = "error", None
        if reply.stopping or not reply.shown:
            await self._finish(reply, "cancelled", None)
            return
        try:
            async with contextlib.aclosing(self.link.generate(request)) as events:
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
                                self._view.show_pieces(event.pieces, event.counters.thinking_tokens)
                        case Finished():
                            self._count(reply, event)
                            reply.whole(event.text, event.thinking)
                            reason, seed = event.finish_reason, event.seed
                        case Failed():
                            if event.text or event.thinking:
                                reply.whole(event.text, event.thinking)
                            self._view.show_notice(Notice(event.message, event.hint, "error"))
                        case _:
                            pass
                    self._view.changed()
        except EngineDied:
            pass  # the link tells and recovers; what was said so far is kept below
        await self._finish(reply, reason, seed)

    async def _finish(self, reply: Reply, reason: str, seed: int | None) -> None:
        finished = reply.finish(reason, seed)
        self.figures.prefill = None
        if reply.shown:
            self.conversation = finished = dataclasses.replace(finished, draft=self._draft())
            if reply.turn.attribution:
                self._view.show_finish(reply.turn.attribution)
        self.reply = None
        self._next()
        self._view.changed()
        await self._saver.now(finished)
        reply.over.set()

    def _count(self, reply: Reply, event: Prefilling | Delta | Finished) -> None:
        reply.counters = event.counters
        if reply.shown:
            self.figures.update(event.counters, time.monotonic())

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
