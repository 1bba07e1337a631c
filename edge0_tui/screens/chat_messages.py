"""What a person does to one message of the chat: the chosen one, or, without one, the last it makes sense for."""

from __future__ import annotations

from typing import Literal

from textual import on

from edge0_tui.chat.turn import Turn
from edge0_tui.comparison import Comparison
from edge0_tui.notices import Notice
from edge0_tui.room import Room, ways_out
from edge0_tui.screens.chat_exchange import ExchangeActions
from edge0_tui.widgets.prompt import Prompt
from edge0_tui.widgets.transcript import Transcript
from engine.protocol import Role


class MessageActions(ExchangeActions):
    """One method for each action of scope "message" in `keys`."""

    _codes_copied = ("", 0)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Going through versions and leaving need a chosen message; the keys mean something else without one."""
        if action in ("message_previous", "message_next", "message_leave", "message_copy"):
            return self.query_one(Transcript).chosen is not None
        return super().check_action(action, parameters)

    async def action_message_earlier(self) -> None:
        await self._walk(-1)

    async def action_message_later(self) -> None:
        transcript = self.query_one(Transcript)
        if transcript.chosen is not None and transcript.chosen is transcript.messages[-1]:
            self.action_message_leave()
        elif transcript.chosen is not None:
            await self._walk(1)

    async def _walk(self, step: Literal[-1, 1]) -> None:
        transcript = self.query_one(Transcript)
        if transcript.messages and transcript.display:
            transcript.focus(scroll_visible=False)
            await transcript.walk(step)

    def action_message_leave(self) -> None:
        self.query_one(Transcript).leave()
        self.query_one(Prompt).focus()

    @on(Transcript.Walked)
    def _walked(self) -> None:
        self.changed()

    @on(Prompt.Sent)
    def _back_to_the_end(self) -> None:
        self.query_one(Transcript).leave()

    @on(Transcript.VersionWanted)
    def _other_version(self, event: Transcript.VersionWanted) -> None:
        self.controller.branching.step(event.turn_id, event.step)

    def action_message_edit(self) -> None:
        if turn := self._meant("user"):
            self.query_one(Transcript).leave()
            self.controller.branching.edit(turn.id)

    def action_message_again(self) -> None:
        if turn := self._meant("assistant"):
            self.controller.branching.again(turn.id)

    def action_message_go_on(self) -> None:
        if turn := self._meant("assistant"):
            self.controller.branching.go_on(turn.id)

    def action_message_previous(self) -> None:
        self._step(-1)

    def action_message_next(self) -> None:
        self._step(1)

    def _step(self, step: int) -> None:
        if chosen := self.query_one(Transcript).chosen:
            self.controller.branching.step(chosen.turn_id, step)

    async def action_message_fork(self) -> None:
        if turn := self._meant(None):
            await self.controller.branching.fork(turn.id)

    def action_message_beside(self) -> None:
        if turn := self._meant("assistant"):
            self.controller.branching.lay_beside(turn.id)

    def action_message_copy(self) -> None:
        if turn := self._meant(None):
            self.app.copy_to_clipboard(turn.text)

    def action_message_code(self) -> None:
        """The first code block of the message, and with each further press the next."""
        turn = self._meant("assistant")
        messages = {message.turn_id: message for message in self.query_one(Transcript).messages}
        codes = messages[turn.id].codes if turn and turn.id in messages else []
        if turn is None or not codes:
            self.show_notice(Notice("There is no code block in this message."))
            return
        before, count = self._codes_copied
        number = count % len(codes) if before == turn.id else 0
        self._codes_copied = (turn.id, number + 1)
        self.app.copy_to_clipboard(codes[number])

    def action_message_compare(self) -> None:
        from edge0_tui.screens.compare import CompareScreen

        turn, link = self._meant("assistant"), self.controller.link
        if turn is None or link.info is None or link.loaded is None:
            self.show_notice(Notice("There is nothing to compare yet.", "It needs an answer and a loaded model."))
            return

        def compare(wanted: Comparison | None) -> None:
            if wanted is not None:
                self.run_worker(self.controller.branching.compare(turn.id, wanted.choice, wanted.keep))

        self.app.push_screen(CompareScreen(self.library.models, link.loaded, link.info), compare)

    def ask_for_room(self, answer: Turn, refusal: str) -> None:
        from edge0_tui.screens.room import RoomScreen

        limit = self.controller.link.info.context_limit if self.controller.link.info else 0

        branching = self.controller.branching

        def decided(way: Room | None) -> None:
            match way:
                case "drop":
                    branching.with_room(answer.id)
                case "new":
                    self.run_worker(branching.move_to_a_new_chat(answer.id))
                case "larger":
                    self.run_worker(branching.with_larger_context(answer.id, 2 * limit))
                case None:
                    self.show_notice(Notice(refusal, "Your message stays; {key:message_edit} edits it.", "warning"))

        self.app.push_screen(RoomScreen(refusal, ways_out(limit)), decided)

    def _meant(self, role: Role | None) -> Turn | None:
        """The turn of the chosen message, or else the last one of this role."""
        chosen = self.query_one(Transcript).chosen
        conversation = self.controller.conversation
        if chosen is not None and chosen.turn_id in conversation.turns:
            return conversation.turns[chosen.turn_id]
        turns = [turn for turn in conversation.path if role in (None, turn.role)]
        return turns[-1] if turns else None
