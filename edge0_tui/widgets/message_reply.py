"""An answer: who gives it, its folded thinking, its Markdown as it arrives, and what it cost."""

from __future__ import annotations

from textual import events

from edge0_tui.chat.branches import Place
from edge0_tui.chat.turn import Attribution, Turn
from edge0_tui.widgets.markdown import Growing, Section
from edge0_tui.widgets.message import Message
from edge0_tui.widgets.message_lines import EMPTY, compared, foot, reply_head
from edge0_tui.widgets.thinking import TOGGLE, Thinking
from engine.protocol import Piece


class ReplyMessage(Message):
    """Grows while pieces arrive; complete from the start when it comes from disk."""

    def __init__(self, turn_id: str, name: str = "", place: Place | None = None, *, unfolded: bool = False) -> None:
        self._model = name
        self._place = place
        self._attribution: Attribution | None = None
        self._head = Section([reply_head(name, None, place)])
        self._thinking = Thinking(unfolded)
        self._body = Growing()
        self._foot = Section(above=1)
        self._compared = False
        super().__init__(turn_id, [self._head, self._body, self._foot], [])

    @classmethod
    def of(cls, turn: Turn, place: Place | None = None, *, unfolded: bool = False) -> ReplyMessage:
        reply = cls.begun(turn, "", place, unfolded=unfolded)
        reply.finish(turn.attribution)
        return reply

    @classmethod
    def begun(cls, turn: Turn, name: str, place: Place | None = None, *, unfolded: bool = False) -> ReplyMessage:
        """With the text of this turn, and open for more."""
        reply = cls(turn.id, name, place, unfolded=unfolded)
        tokens = turn.attribution.thinking_tokens if turn.attribution else 0
        if turn.thinking or turn.text:
            reply.extend([Piece("thinking", turn.thinking), Piece("answer", turn.text)], tokens)
        return reply

    @property
    def thinking(self) -> str:
        return self._thinking.text

    def extend(self, pieces: list[Piece], thinking_tokens: int = 0) -> None:
        """Add text of both channels in the order it was written."""
        thinking = "".join(piece.text for piece in pieces if piece.channel == "thinking")
        answer = "".join(piece.text for piece in pieces if piece.channel == "answer")
        if thinking:
            self._thinking.append(thinking, thinking_tokens)
        if answer:
            self._pieces.append(answer)
            self._thinking.finish(thinking_tokens)
            self._body.append(answer)
        self._show()

    def finish(self, attribution: Attribution | None) -> None:
        """No more text: what was left open is closed, and the figures appear."""
        self._thinking.finish(attribution.thinking_tokens if attribution else 0)
        self._body.append("", final=True)
        self._attribution = attribution
        self._head.set([reply_head(self._model, attribution, self._place)])
        self._show_figures()
        self._show()

    def set_place(self, place: Place | None) -> None:
        if place != self._place:
            self._place = place
            self._head.set([reply_head(self._model, self._attribution, place)])
            self.sections_changed()

    def unfold(self, unfolded: bool) -> None:
        self._thinking.toggle(unfolded)
        self._show()

    def on_click(self, event: events.Click) -> None:
        if event.style.meta.get("toggle") == TOGGLE:
            self.unfold(not self._thinking.unfolded)

    def compare(self) -> None:
        """Show the figures one below the other under the name, where they stand beside those of another answer."""
        self._compared = True
        self._show_figures()
        self._show()

    def _show_figures(self) -> None:
        about = self._attribution
        if self._compared:
            self._foot.set_above(0)
            self._foot.set([*compared(about), EMPTY])
        else:
            self._foot.set([foot(about)] if about else [])

    def _show(self) -> None:
        thinking = self._thinking.sections
        self._body.set_above(int(bool(thinking)))
        if self._compared:
            self.sections = [self._head, self._foot, *thinking, self._body]
        else:
            self.sections = [self._head, *thinking, self._body, self._foot]
        self.sections_changed()
