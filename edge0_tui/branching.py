"""What a person does with messages that are there: edit, ask again, go on, see other versions, fork, compare."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from edge0_tui.chat.branches import neighbour
from edge0_tui.chat.conversation import Conversation
from edge0_tui.chat.turn import Turn
from edge0_tui.choice import Choice
from edge0_tui.notices import Notice
from edge0_tui.view import ChatView

if TYPE_CHECKING:
    from edge0_tui.controller import Controller

BRANCH = "branch"
UNFINISHED = frozenset({"cancelled", "length", "interrupted", "error"})


class Branching:
    """Turns are named by their ids. Nothing here removes a turn: every change makes a sibling, and says so.

    editing    the question whose text stands in the prompt, or empty
    set_aside  the draft that stood there before
    beside     answers that are shown beside each other
    comparing  an answer by another choice is being fetched; messages wait until the former choice is back
    """

    def __init__(self, controller: Controller, view: ChatView) -> None:
        self.editing = ""
        self.set_aside = ""
        self.beside: tuple[str, ...] = ()
        self.comparing = False
        self._controller = controller
        self._view = view

    # --- editing ---

    def edit(self, turn_id: str) -> None:
        """Put a question's text into the prompt; sending it makes a new version of the question."""
        turn = self._turn(turn_id)
        if turn.role != "user":
            self._tell("Only your own messages can be edited.", "r has this answer written again.")
            return
        if not self.editing:
            self.set_aside = self._view.draft()
        self.editing = turn_id
        self._view.set_prompt(turn.text)
        self._view.changed()

    def leave_edit(self) -> bool:
        """Put the former draft back; true if something was being edited."""
        if not self.editing:
            return False
        self.editing = ""
        self._view.set_prompt(self.set_aside)
        self.set_aside = ""
        return True

    def edited(self) -> Turn | None:
        """The question that what is sent now is a version of. Asking ends the edit."""
        turn = self._controller.conversation.turns.get(self.editing)
        self.leave_edit()
        return turn

    # --- answers ---

    def again(self, turn_id: str) -> None:
        """Have an answer written again, or a question answered again; the answer so far stays as a sibling."""
        if self._free("written again"):
            self._write_again(turn_id)

    def _write_again(self, turn_id: str) -> Turn:
        controller = self._controller
        turn = self._turn(turn_id)
        question = turn.id if turn.role == "user" else turn.parent or ""
        if turn.role == "assistant" and not (turn.text or turn.thinking):
            answer = turn  # nothing was said, so there is nothing to keep
            controller.look_at(controller.conversation.show(turn_id))
        else:
            answer = controller.new_answer(question)
            controller.look_at(controller.conversation.add(answer))
        self._show(without=answer.id)
        controller.write(answer)
        return answer

    def go_on(self, turn_id: str) -> None:
        """Have the model write on from where a stopped answer ends."""
        turn = self._turn(turn_id)
        last = self._controller.conversation.last
        if turn.role != "assistant" or turn.attribution is None:
            self._tell("Only an answer can be continued.")
        elif turn.attribution.finish_reason not in UNFINISHED:
            self._tell("This answer has come to its own end.", "r has it written again.")
        elif last is None or last.id != turn.id:
            self._tell("Something was said after this answer.", "r has it written again.")
        elif self._free("continued"):
            self._controller.write(turn)

    def with_room(self, turn_id: str) -> None:
        """Ask again for an answer that was refused for its length, without the oldest turns."""
        if self._free("asked again"):
            self._controller.write(self._turn(turn_id), drop_oldest=True)

    async def move_to_a_new_chat(self, turn_id: str) -> None:
        """Ask the question of this answer in a chat of its own."""
        question = self._controller.conversation.ancestors(turn_id)[-2]
        await self._controller.open(Conversation(system=self._controller.conversation.system))
        self._controller.send(question.text)

    async def with_larger_context(self, turn_id: str, context: int) -> None:
        """Load again with this context, then ask again."""
        link, chat = self._controller.link, self._controller.conversation.id
        await link.load(replace(link.loaded or Choice(), context=context))
        same = self._controller.conversation.id == chat
        if same and link.phase == "ready" and link.info and link.info.context_limit >= context:
            self.again(turn_id)

    # --- other versions ---

    def step(self, turn_id: str, step: int) -> str:
        """Look at the version so many places further; returns the id of the turn that is on screen then."""
        controller = self._controller
        there = neighbour(controller.conversation, turn_id, step)
        if there is None or self._writing():
            return turn_id
        controller.look_at(controller.conversation.show(there.id))
        self._show()
        return there.id

    def lay_beside(self, turn_id: str) -> None:
        """Show this answer and its neighbour beside each other, or no longer."""
        if self._writing():
            return
        conversation = self._controller.conversation
        family = [turn.id for turn in conversation.siblings(turn_id)]
        if self.beside:
            self.beside = ()
        elif self._turn(turn_id).role != "assistant" or len(family) < 2:
            self._tell("This message has no other version.", "r or v make one of an answer.")
            return
        else:
            at = max(1, family.index(turn_id))
            self.beside = (family[at - 1], family[at])
        self._show()

    async def compare(self, turn_id: str, choice: Choice, keep: bool) -> None:
        """Have the same question answered by another choice, and show both answers beside each other. Afterwards
        what was loaded before is loaded again, unless `keep`."""
        if not self._free("compared"):
            return
        controller, link = self._controller, self._controller.link
        before, chat = link.loaded, controller.conversation.id
        self.comparing = True
        try:
            await link.load(choice)
            if link.loaded == choice and link.phase == "ready" and controller.conversation.id == chat:
                await self._answer_beside(turn_id)
            if not keep and before is not None and link.phase == "ready" and link.loaded not in (None, before):
                await link.load(before)
        finally:
            self.comparing = False
            controller.free_again()

    async def _answer_beside(self, turn_id: str) -> None:
        controller = self._controller
        answer = controller.new_answer(self._turn(turn_id).parent or "")
        self.beside = (turn_id, answer.id)
        controller.look_at(controller.conversation.add(answer))
        self._show(without=answer.id)
        controller.write(answer)
        if controller.reply is not None:
            await controller.reply.over.wait()

    async def fork(self, turn_id: str) -> None:
        """A new chat with the turns up to this one."""
        if self._writing():
            return
        await self._controller.open(self._controller.conversation.fork(turn_id))
        self._tell("A new chat from here on.", "The one it comes from stays as it was.")

    # --- inside ---

    def _turn(self, turn_id: str) -> Turn:
        return self._controller.conversation.turns[turn_id]

    def _show(self, without: str = "") -> None:
        on_path = {turn.id for turn in self._controller.conversation.path}
        if not on_path & set(self.beside):
            self.beside = ()
        self._view.show_branch(self._controller.conversation, self.beside, without)

    def _writing(self) -> bool:
        """Tell and answer true while an answer is being written."""
        if self._controller.reply is None and not self.comparing:
            return False
        self._tell("An answer is being written.", "{key:stop} stops it.")
        return True

    def _free(self, what: str) -> bool:
        if self._writing():
            return False
        if not self._controller.free:
            self._tell(f"It can be {what} once a model is loaded.", "{key:models} chooses one.")
            return False
        return True

    def _tell(self, message: str, hint: str = "") -> None:
        self._view.show_notice(Notice(message, hint, topic=BRANCH))
