"""A value between two bounds, set with the arrow keys or the mouse."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.widget import Widget

LABEL, VALUE = 10, 17
"""Cells of the name at the left and of the value at the right."""


@dataclass(frozen=True)
class Scale:
    """`low` to `high` in steps of `step`; beyond `comfortable` the track is drawn in the warning colour."""

    low: int
    high: int
    step: int
    comfortable: int

    def at(self, share: float) -> int:
        """The value at a share of the way, on a step unless at an end."""
        if share <= 0:
            return self.low
        if share >= 1:
            return self.high
        return self.near(self.low + round(share * (self.high - self.low)))

    def near(self, value: int) -> int:
        """The nearest value that can be chosen."""
        if value <= self.low or value >= self.high:
            return min(self.high, max(self.low, value))
        return min(self.high, max(self.low, round(value / self.step) * self.step))

    def moved(self, value: int, steps: int) -> int:
        """`value` so many steps further; one that stands between two steps goes to the next one."""
        below = value // self.step * self.step
        start = below + self.step if steps < 0 and value != below else below
        return min(self.high, max(self.low, start + steps * self.step))

    def share(self, value: int) -> float:
        """Where `value` is, as a share of the way."""
        return (value - self.low) / (self.high - self.low) if self.high > self.low else 0.0


class Slider(Widget, can_focus=True):
    """Tells of each new value with `Moved`; what it says beside its track is the owner's."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "move(-1)", show=False),
        Binding("right", "move(1)", show=False),
        Binding("shift+left,pagedown", "move(-8)", show=False),
        Binding("shift+right,pageup", "move(8)", show=False),
        Binding("home", "end(-1)", show=False),
        Binding("end", "end(1)", show=False),
    ]
    DEFAULT_CSS: ClassVar[str] = """
    Slider { height: 1; width: 1fr; pointer: pointer; }
    """

    class Moved(Message):
        """A person has chosen `value`."""

        def __init__(self, slider: Slider, value: int) -> None:
            super().__init__()
            self.slider, self.value = slider, value

    def __init__(self, name: str, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._label = name
        self.scale = Scale(0, 1, 1, 1)
        self.value = 0
        self.text = ""
        self._dragged = False

    def show(self, scale: Scale, value: int, text: str) -> None:
        """Draw this; `text` stands at the right."""
        if (scale, value, text) != (self.scale, self.value, self.text):
            self.scale, self.value, self.text = scale, value, text
            self.refresh()

    def render(self) -> Content:
        width = self.content_size.width
        room = max(4, width - LABEL - VALUE)
        knob = round(self.scale.share(self.value) * (room - 1))
        edge = min(room, round(self.scale.share(self.scale.comfortable) * (room - 1)) + 1)
        if self.scale.high <= self.scale.comfortable:
            edge = room
        label = "$primary bold" if self.has_focus else "$text-muted"
        track = [("━" if i < knob else "─", "$primary" if i < knob else "$hairline") for i in range(room)]
        track = [(mark, "$warning" if i >= edge else style) for i, (mark, style) in enumerate(track)]
        track[knob] = ("●", "$accent bold" if knob < edge else "$warning bold")
        return Content.assemble(
            (self._label.ljust(LABEL), label), *track, (self.text.rjust(VALUE), "$foreground")
        ).truncate(width)

    def action_move(self, steps: int) -> None:
        self._choose(self.scale.moved(self.value, steps))

    def action_end(self, which: int) -> None:
        self._choose(self.scale.high if which > 0 else self.scale.low)

    def on_mouse_down(self, event: events.MouseDown) -> None:
        self.capture_mouse()
        self._dragged = True
        self._follow(event)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        if self._dragged:
            self._follow(event)

    def on_mouse_up(self, event: events.MouseUp) -> None:
        self._dragged = False
        self.release_mouse()

    def _follow(self, event: events.MouseEvent) -> None:
        room = max(4, self.content_size.width - LABEL - VALUE)
        self._choose(self.scale.at((event.x - LABEL) / (room - 1)))

    def _choose(self, value: int) -> None:
        if value != self.value:
            self.post_message(self.Moved(self, value))
