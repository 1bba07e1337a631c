"""The messages of a path as widgets: which are mounted, which are replaced, which are still to be fetched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from textual.await_complete import AwaitComplete
from textual.containers import VerticalScroll
from textual.widget import AwaitMount, Widget

from edge0_tui.chat.branches import Place
from edge0_tui.chat.turn import Turn
from edge0_tui.widgets.backdrop import Scrolling
from edge0_tui.widgets.transcript_earlier import TranscriptEarlier

if TYPE_CHECKING:
    # A tenth of a second of imports that an empty transcript does not need: start-up counts.
    from edge0_tui.widgets.message import Message
    from edge0_tui.widgets.message_reply import ReplyMessage

PAGE = 30


class PathView(VerticalScroll, Scrolling):
    """`messages` are those on the path, from the last page to the end; `earlier` the turns before them."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.messages: list[Message] = []
        self.earlier: list[Turn] = []
        self._places: Mapping[str, Place] = {}
        self._beside: Mapping[str, Turn] = {}
        self._unfolded = False
        self._fetching = False
        self._held: tuple[Widget, int] | None = None
        self._earlier_note = TranscriptEarlier()

    def load(
        self, turns: Sequence[Turn], places: Mapping[str, Place] | None = None, beside: Sequence[Turn] = ()
    ) -> AwaitComplete:
        """Show a conversation from its end, instead of what is shown. Need not be awaited."""
        self._places, self._beside = places or {}, {turn.id: turn for turn in beside}
        self.earlier = list(turns[:-PAGE])
        removed = self._remove(self.messages)
        self.messages = []
        mounted = self._mount([self._message(turn) for turn in turns[-PAGE:]])
        self.anchor()
        return AwaitComplete(*removed, mounted)

    def show_path(
        self, turns: Sequence[Turn], places: Mapping[str, Place], beside: Sequence[Turn] = ()
    ) -> AwaitComplete:
        """Show another branch of the same conversation: messages that stay are not touched. Need not be awaited."""
        before = [turn.id for turn in self.earlier] + [message.turn_id for message in self.messages]
        same = next(
            (n for n, (id, turn) in enumerate(zip(before, turns, strict=False)) if id != turn.id),
            min(len(before), len(turns)),
        )
        again = {turn.id for turn in beside} | set(self._beside)
        same = next((n for n, id in enumerate(before[:same]) if id in again), same)
        kept = same - len(self.earlier)
        if kept < 0 or len(turns) - same > PAGE:
            return self.load(turns, places, beside)
        self._places, self._beside = places, {turn.id: turn for turn in beside}
        removed = self._remove(self.messages[kept:])
        self.messages = self.messages[:kept]
        for message in self.messages:
            message.set_place(places.get(message.turn_id))
        mounted = self._mount([self._message(turn) for turn in turns[same:]])
        return AwaitComplete(*removed, mounted)

    async def fetch_earlier(self) -> None:
        """Mount one more page above, without moving what is being read."""
        page, self.earlier = self.earlier[-PAGE:], self.earlier[:-PAGE]
        first = self.messages[0].row
        self._held = first, first.virtual_region.y - self.scroll_offset.y
        messages = [self._message(turn) for turn in page]
        self.messages[:0] = messages
        await self.mount_all([message.row for message in messages], after=self._earlier_note)
        self._earlier_note.show(len(self.earlier))
        self.call_after_refresh(self._let_go)

    def _let_go(self) -> None:
        self._held = None
        self._fetching = False

    def _message(self, turn: Turn) -> Message:
        from edge0_tui.widgets.message_reply import ReplyMessage
        from edge0_tui.widgets.message_user import UserMessage

        place = self._places.get(turn.id)
        if turn.role != "assistant":
            return UserMessage(turn, place)
        reply = ReplyMessage.of(turn, place, unfolded=self._unfolded)
        self._lay_beside(reply)
        return reply

    def _lay_beside(self, reply: ReplyMessage) -> None:
        """Give a reply that is compared its companion."""
        if reply.turn_id not in self._beside:
            return
        from edge0_tui.widgets.message_reply import ReplyMessage
        from edge0_tui.widgets.reply_pair import ReplyPair

        ReplyPair(
            [
                reply
                if id == reply.turn_id
                else ReplyMessage.of(turn, self._places.get(id), unfolded=self._unfolded)
                for id, turn in self._beside.items()
            ],
            reply,
        )

    def _mount(self, messages: list[Message]) -> AwaitMount:
        self.messages += messages
        self._earlier_note.show(len(self.earlier))
        return self.mount_all([message.row for message in messages])

    def _remove(self, messages: Sequence[Message]) -> list[AwaitComplete]:
        return [AwaitComplete(message.row.remove()) for message in messages]
