"""The transcript: messages below each other, following the end unless the reader has gone elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.await_complete import AwaitComplete
from textual.binding import BindingType
from textual.geometry import Size
from textual.layout import DockArrangeResult
from textual.message import Message as TextualMessage
from textual.timer import Timer

from edge0_tui import keys
from edge0_tui.chat.branches import Place
from edge0_tui.chat.turn import Attribution, Turn
from edge0_tui.widgets.transcript_path import PAGE
from edge0_tui.widgets.transcript_walk import WalkingView
from engine.protocol import Piece

if TYPE_CHECKING:
    # As in `transcript_path`.
    from edge0_tui.widgets.markdown import BlockView
    from edge0_tui.widgets.message import Message
    from edge0_tui.widgets.message_reply import ReplyMessage

__all__ = ["PAGE", "Transcript"]

FLUSH_HZ = 9
"""Every picture of a long answer costs the same, however little was added: fifteen cost half as much again."""


class Transcript(WalkingView, can_focus=True):
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

    BINDINGS: ClassVar[list[BindingType]] = keys.bindings("message", "screen.")

    class LinkClicked(TextualMessage):
        """A web or mail address in a message was clicked."""

        def __init__(self, href: str) -> None:
            super().__init__()
            self.href = href

    class VersionWanted(TextualMessage):
        """Another version of this turn is wanted: the one before (-1) or after (1)."""

        def __init__(self, turn_id: str, step: int) -> None:
            super().__init__()
            self.turn_id = turn_id
            self.step = step

    class CopyRequested(TextualMessage):
        """Text of a message is wanted in the clipboard; `what` names it for the notice ("code", "message")."""

        def __init__(self, text: str, what: str) -> None:
            super().__init__()
            self.text = text
            self.what = what

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._reply: ReplyMessage | None = None
        self._pending: list[Piece] = []
        self._thinking_tokens = 0
        self._timer: Timer | None = None
        self.on_shown: Callable[[], object] = lambda: None
        """Called `FLUSH_HZ` times a second while a reply is being written: what changes in it is one picture with
        the new text, and a picture costs much the same however little is new."""

    def compose(self) -> ComposeResult:
        yield self._earlier_note

    def on_mount(self) -> None:
        self._timer = self.set_interval(1 / FLUSH_HZ, self._tick, pause=self._reply is None)
        self.anchor()

    # --- what the screen calls ------------------------------------------------------------------------------

    def load(
        self, turns: Sequence[Turn], places: Mapping[str, Place] | None = None, beside: Sequence[Turn] = ()
    ) -> AwaitComplete:
        self._end_reply()
        self.leave()
        return super().load(turns, places, beside)

    def show_path(
        self, turns: Sequence[Turn], places: Mapping[str, Place], beside: Sequence[Turn] = ()
    ) -> AwaitComplete:
        """As `PathView.show_path`; the version that takes the place of the chosen message, be it one that is about
        to be written, is chosen."""
        self._end_reply()
        at = self.messages.index(self.chosen) - len(self.messages) if self.chosen in self.messages else 0
        depth = len(self.earlier) + len(self.messages) + at
        done = super().show_path(turns, places, beside)
        if at and self.chosen not in self.messages:
            mounted = depth - len(self.earlier)
            if 0 <= mounted < len(self.messages):
                self._choose(self.messages[mounted])
        return done

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

        self._begin(ReplyMessage(turn_id, name, self._places.get(turn_id), unfolded=self._unfolded))

    def go_on(self, turn: Turn, name: str) -> None:
        """The answer of this turn gets more text, below what it has. One that is not shown begins."""
        from edge0_tui.widgets.message_reply import ReplyMessage

        if self.messages and self.messages[-1].turn_id == turn.id:
            self._remove([self.messages.pop()])
        place = self._places.get(turn.id)
        self._begin(ReplyMessage.begun(turn, name, place, unfolded=self._unfolded))

    def _begin(self, reply: ReplyMessage) -> None:
        self._end_reply()
        self._reply = reply
        self._lay_beside(reply)
        self._mount([reply])
        if self.chosen is not None and self.chosen not in self.messages:
            self._choose(reply, scroll=False)
        if self._timer:
            self._timer.resume()

    def append(self, pieces: Sequence[Piece], thinking_tokens: int = 0) -> None:
        """Take new text of the reply; it is on screen within a tenth of a second."""
        self._pending += pieces
        self._thinking_tokens = thinking_tokens or self._thinking_tokens

    def _tick(self) -> None:
        self.on_shown()
        self.flush()

    @property
    def writing(self) -> bool:
        """Whether a reply is being written."""
        return self._reply is not None

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
        for message in self.query(ReplyMessage):
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

    def _end_reply(self) -> None:
        self._reply = None
        self._pending = []
        self._thinking_tokens = 0
        if self._timer:
            self._timer.pause()

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

    def _size_updated(self, size: Size, virtual_size: Size, container_size: Size, layout: bool = True) -> bool:
        """A reply that is followed to its end changes only how far can be scrolled; Textual would lay everything
        out and paint it a second time."""
        followed = self.writing and self._anchored and not self._anchor_released and size == self.outer_size
        return super()._size_updated(size, virtual_size, container_size, layout and not followed)

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

    # --- messages of the messages ---------------------------------------------------------------------------

    def on_block_view_link_clicked(self, event: BlockView.LinkClicked) -> None:
        event.stop()
        self.post_message(self.LinkClicked(event.href))

    def on_block_view_code_clicked(self, event: BlockView.CodeClicked) -> None:
        event.stop()
        self.post_message(self.CopyRequested(event.code, "code"))

    def on_message_chosen(self, event: Message.Chosen) -> None:
        event.stop()
        self.focus()
        self.choose(event.turn_id)

    def on_message_version_wanted(self, event: Message.VersionWanted) -> None:
        event.stop()
        self.post_message(self.VersionWanted(event.turn_id, event.step))
