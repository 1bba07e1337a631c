"""The line at the top: what is loaded on the left, how full the context is on the right."""

from __future__ import annotations

from dataclasses import dataclass

from textual.content import Content
from textual.widgets import Static

from edge0_tui import units
from edge0_tui.widgets.bars import meter
from engine.protocol import ModelInfo

_METER = 12


@dataclass(frozen=True)
class HeaderState:
    """What the header says. `activity` stands in for the model's name while there is none; `fetching` is what is
    being downloaded."""

    info: ModelInfo | None = None
    activity: str = "starting the engine"
    context: tuple[int | None, int] | None = None
    title: str = ""
    fetching: str = ""


class HeaderLine(Static):
    """Leaves out what does not fit, least important first."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(markup=False, id=id)
        self.state = HeaderState()

    def show(self, state: HeaderState) -> None:
        if state != self.state:
            self.state = state
            self.update(self._draw(self.content_size.width), layout=False)

    def on_resize(self) -> None:
        self.update(self._draw(self.content_size.width), layout=False)

    def _draw(self, width: int) -> Content:
        right = context_meter(self.state.context, bar=width >= 72)
        if self.state.fetching and width >= 50:
            right = Content.assemble(("↓ " + self.state.fetching, "$accent"), "   " if right else "", right)
        if width < 30:
            right = Content("")
        left = self._left(width - right.cell_length - 1)
        return Content.assemble(left, " " * max(0, width - left.cell_length - right.cell_length), right)

    def _left(self, room: int) -> Content:
        info = self.state.info
        if info is None:
            return _cut(Content.assemble(("◆ ", "$accent"), (self.state.activity, "$text-muted")), room)
        parts = [(info.name, "$foreground bold")]
        if info.tier and info.tier.lower() != info.name.lower():
            parts.append((f"tier {info.tier}", "$text-muted"))
        parts.append((f"adapter {info.adapter}" if info.adapter != "none" else "no adapter", "$text-muted"))
        parts.append((f"routing {info.routing}", "$text-muted"))
        if self.state.title:
            parts.append((self.state.title, "$text-disabled"))
        while len(parts) > 1 and 2 + sum(len(text) + 3 for text, _ in parts) - 3 > room:
            parts.pop()
        line = Content.assemble(("◆ ", "$primary"))
        for index, (text, style) in enumerate(parts):
            line = Content.assemble(line, (" · " if index else "", "$text-disabled"), (text, style))
        return _cut(line, room)


def context_meter(context: tuple[int | None, int] | None, bar: bool) -> Content:
    """`━━━━──── 1,204 / 32,768`, in the warning colour from four fifths on."""
    if context is None:
        return Content("")
    used, limit = context
    colour = "$warning" if (used or 0) >= 0.8 * limit else "$primary"
    full, rest = meter((used or 0) / limit, _METER)
    drawing = [("context ", "$text-muted"), (full, colour), (rest, "$hairline"), (" ", "")] if bar else []
    return Content.assemble(*drawing, (units.count(used), "$foreground"), (f" / {limit:,}", "$text-muted"))


def _cut(line: Content, room: int) -> Content:
    return line.truncate(max(0, room), ellipsis=True)
