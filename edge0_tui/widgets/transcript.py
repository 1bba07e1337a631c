"""The transcript: messages below each other, following the end unless the reader has gone elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.await_complete import AwaitComplete
from textual.containers import VerticalScroll
from textual.geometry import Size
from textual.layout import DockArrangeResult
from textual.message import Message as TextualMessage
from textual.timer import Timer
from textual.widget import AwaitMount

from edge0_tui.chat.turn import Attribution, Turn
from edge0_tui.widgets.transcript_earlier import TranscriptEarlier
from engine.protocol import Piece

if TYPE_CHECKING:
    # A tenth of a second of imports that an empty transcript does not need: start-up counts.
    from edge0_tui.widgets.markdown import BlockView
    from edge0_tui.widgets.message import Message
    from edge0_tui.widgets.message_reply import ReplyMessage

FLUSH_HZ = 15
PAGE = 30


class Transcript(VerticalScroll, can_focus=True):
    """Shows the turns of one conversation and the reply that is being written.

    Everything that takes text only buffers it; one timer shows what has come together. Earlier messages than
    the last page are mounted when the reader scrolls up to them.
    """

    DEFAULT_CSS: ClassVar[str] = """
    Transcript {
        height: 1fr;
        background: $background;
        align-horizontal: center;
        padding: 1 1 0 1;
        scrollbar-size-vertical: 1;
        scrollbar-gutter: stable;
        scrollbar-color: $foreground 20%;
        scrollbar-color-hover: $foreground 40%;
        scrollbar-color-active: $primary;
        scrollbar-background: $background;
        scrollbar-background-hover: $background;
        scrollbar-background-active: $background;
    }
    """

    class LinkClicked(TextualMessage):
        """A web or mail address in a message was clicked."""

        def __init__(self, href: str) -> None:
            super().__init__()
            self.href = href

    class CopyRequested(TextualMessage):
        """Text of a message is wanted in the clipboard; `what` names it for the notice ("code", "message")."""

        def __init__(self, text: str, what: str) -> None:
            super().__init__()
            self.text = text
            self.what = what

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.messages: list[Message] = []
        self._reply: ReplyMessage | None = None
        self._pending: list[Piece] = []
        self._thinking_tokens = 0
        self._unfolded = False
        self.earlier: list[Turn] = []
        self._fetching = False
        self._held: tuple[Message, int] | None = None
        self._timer: Timer | None = None
        self._earlier_note = TranscriptEarlier()

    def compose(self) -> ComposeResult:
        yield self._earlier_note

    def on_mount(self) -> None:
        self._timer = self.set_interval(1 / FLUSH_HZ, self.flush, pause=self._reply is None)
        self.anchor()

    # --- what the screen calls ------------------------------------------------------------------------------

    def load(self, turns: Sequence[Turn]) -> AwaitComplete:
        """Show a conversation from its end, instead of what is shown. Need not be awaited."""
        self._end_reply()
        self.earlier = list(turns[:-PAGE])
        removed = [message.remove() for message in self.messages]
        self.messages = []
        mounted = self._mount([self._message(turn) for turn in turns[-PAGE:]])
        self.anchor()
        return AwaitComplete(*removed, mounted)

    def clear(self) -> AwaitComplete:
        """Show nothing."""
        return self.load([])

    def add_user(self, turn: Turn) -> None:
        """Show what was just sent, and follow the end again."""
        self._mount([self._message(turn)])
        self.anchor()

    def begin_reply(self, turn_id: str, name: str = "") -> None:
        """Make room for the answer with this turn id; `name` is the model until `finish` knows more. A reader
        who has gone elsewhere stays there."""
        from edge0_tui.widgets.message_reply import ReplyMessage

        self._end_reply()
        self._reply = ReplyMessage(turn_id, name, unfolded=self._unfolded)
        self._mount([self._reply])
        if self._timer:
            self._timer.resume()

    def append(self, pieces: Sequence[Piece], thinking_tokens: int = 0) -> None:
        """Take new text of the reply; it is on screen within a fifteenth of a second."""
        self._pending += pieces
        self._thinking_tokens = thinking_tokens or self._thinking_tokens

    def flush(self) -> None:
        """Show what has been buffered."""
        if self._reply and self._pending:
            pending, self._pending = self._pending, []
            self._reply.extend(pending, self._thinking_tokens)

    def finish(self, attribution: Attribution | None) -> None:
        """The reply is over, however it ended."""
        self.flush()
        if self._reply:
            self._reply.finish(attribution)
        self._end_reply()

    def toggle_thinking(self) -> None:
        """Unfold or fold the thinking of all messages, now and to come."""
        from edge0_tui.widgets.message_reply import ReplyMessage

        self._unfolded = not self._unfolded
        for message in self.messages:
            if isinstance(message, ReplyMessage):
                message.unfold(self._unfolded)

    def toggle_folds(self) -> bool:
        """Unfold what is folded in the person's messages, or fold all of it; false if there is nothing."""
        from edge0_tui.widgets.message_user import UserMessage

        found = [message for message in self.messages if isinstance(message, UserMessage) and message.folds]
        unfold = any(not message.unfolded for message in found)
        for message in found:
            message.unfold_all(unfold)
        return bool(found)

    # --- within ---------------------------------------------------------------------------------------------

    def _message(self, turn: Turn) -> Message:
        from edge0_tui.widgets.message_reply import ReplyMessage
        from edge0_tui.widgets.message_user import UserMessage

        return ReplyMessage.of(turn, unfolded=self._unfolded) if turn.role == "assistant" else UserMessage(turn)

    def _end_reply(self) -> None:
        self._reply = None
        self._pending = []
        self._thinking_tokens = 0
        if self._timer:
            self._timer.pause()

    def _mount(self, messages: list[Message]) -> AwaitMount:
        self.messages += messages
        self._earlier_note.show(len(self.earlier))
        return self.mount_all(messages)

    def arrange(self, size: Size, optimal: bool = False) -> DockArrangeResult:
        """Scroll in the frame in which the layout changes, not one later.

        The end is followed only once there is more than fits: until then the text starts at the top and stays
        there, instead of being pushed up from the bottom with every line.
        """
        result = super().arrange(size, optimal)
        self._anchored = result.total_region.bottom > size.height
        if self._held:
            held, offset = self._held
            top = next((place.region.y for place in result.placements if place.widget is held), None)
            if top is not None:
                self.set_scroll(None, top - offset)
                self.scroll_target_y = self.scroll_y
        return result

    def update_node_styles(self, animate: bool = True) -> None:
        """Restyle only this widget: no message looks different when the transcript has the focus, and asking
        all of them is what makes long chats freeze when a terminal comes to the front."""
        self.app.stylesheet.update_nodes([self], animate=animate)

    # --- earlier messages -----------------------------------------------------------------------------------

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        if self.earlier and not self._fetching and new_value <= self.size.height / 2 and new_value < old_value:
            self._fetching = True
            self.call_next(self.fetch_earlier)

    async def fetch_earlier(self) -> None:
        """Mount one more page above, without moving what is being read."""
        page, self.earlier = self.earlier[-PAGE:], self.earlier[:-PAGE]
        first = self.messages[0]
        self._held = first, first.virtual_region.y - self.scroll_offset.y
        messages = [self._message(turn) for turn in page]
        self.messages[:0] = messages
        await self.mount_all(messages, after=self._earlier_note)
        self._earlier_note.show(len(self.earlier))
        self.call_after_refresh(self._let_go)

    def _let_go(self) -> None:
        self._held = None
        self._fetching = False

    # --- messages of the messages ---------------------------------------------------------------------------

    def on_block_view_link_clicked(self, event: BlockView.LinkClicked) -> None:
        event.stop()
        self.post_message(self.LinkClicked(event.href))

    def on_block_view_code_clicked(self, event: BlockView.CodeClicked) -> None:
        event.stop()
        self.post_message(self.CopyRequested(event.code, "code"))
