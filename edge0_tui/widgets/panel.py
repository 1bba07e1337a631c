"""The live panel: every figure of `quantities`, in columns that do not jump while the numbers run."""

from __future__ import annotations

from functools import lru_cache
from itertools import groupby

from textual.containers import VerticalScroll
from textual.content import Content

from edge0_tui import units
from edge0_tui.figures import Figures
from edge0_tui.quantities import QUANTITIES
from edge0_tui.widgets.backdrop import Backdrop
from edge0_tui.widgets.bars import meter, sparkline
from edge0_tui.widgets.rows import Rows

_UNIT = 6
_ALARM = {"dropped": lambda value: value not in (units.UNKNOWN, "0")}


class Panel(Rows):
    """Draws a `Figures`. Scrolling, where the terminal is short, is its container's."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._figures = Figures()
        self._room = 99

    def show(self, figures: Figures, room: int) -> None:
        """Draw these figures; there are empty lines between sections while `room` lines hold them."""
        self._figures, self._room = figures, room
        self.show_rows(self._draw(self.content_size.width))

    def on_resize(self) -> None:
        self.show_rows(self._draw(self.content_size.width))

    def _draw(self, width: int) -> list[Content]:
        if width <= 0:
            return []
        values = self._figures.values()
        sections = [self._section(name, list(group), values, width) for name, group in _SECTIONS]
        lines: list[Content] = []
        spare = self._room - sum(map(len, sections))
        for section in sections:
            if lines and spare > 0:
                lines.append(Content(""))
                spare -= 1
            lines += section
        return lines

    def _section(self, name: str, ids: list[tuple[str, str]], values: dict[str, str], width: int) -> list[Content]:
        lines = [Content.assemble((name + " ", "$text-muted"), ("─" * (width - len(name) - 1), "$hairline"))]
        if name == "first token" and self._figures.prefill:
            lines.append(self._prefill(*self._figures.prefill, width))
        lines += [row(label, values.get(id, units.UNKNOWN), width, id) for id, label in ids]
        if name == "speed":
            lines.append(Content.styled(sparkline(self._figures.speeds, width), "$primary"))
        if name == "context" and (context := self._figures.context):
            share = (context[0] or 0) / context[1]
            full, rest = meter(share, width)
            colour = "$warning" if share >= 0.8 else "$primary"
            lines.insert(1, Content.assemble((full, colour), (rest, "$hairline")))
        return lines

    def _prefill(self, done: int, total: int, width: int) -> Content:
        text = f" {done:,} / {total:,}"
        full, rest = meter(done / total if total else 0.0, max(4, width - len(text)))
        return Content.assemble((full, "$accent"), (rest, "$hairline"), text)


class PanelScroll(VerticalScroll, Backdrop):
    """Scrolls the panel where the terminal is short."""


@lru_cache(maxsize=512)
def row(label: str, value: str, width: int, id: str = "") -> Content:
    """One line: the label, the number against its column's right edge, the unit in a column of its own."""
    number, _, unit = value.rpartition(" ")
    if not number or unit[:1].isdigit():
        number, unit = value, ""
    gap = max(1, width - len(label) - len(number) - _UNIT)
    alarm = _ALARM.get(id)
    style = (
        "$error bold" if alarm and alarm(value) else "$text-disabled" if value == units.UNKNOWN else "$foreground"
    )
    return Content.assemble(
        (label, "$text-muted"), " " * gap, (number, style), (f" {unit}".ljust(_UNIT), "$text-muted")
    )


_SECTIONS = [
    (name, [(quantity.id, quantity.label) for quantity in group])
    for name, group in groupby(QUANTITIES, key=lambda quantity: quantity.section)
]
