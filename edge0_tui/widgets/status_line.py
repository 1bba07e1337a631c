"""One line of figures for terminals too narrow for the panel."""

from __future__ import annotations

from textual.content import Content
from textual.widgets import Static

from edge0_tui import units
from edge0_tui.figures import Figures

_SHOWN = (
    ("now", ""),
    ("ttft", "TTFT"),
    ("peak", "peak"),
    ("hits", "hits"),
    ("footprint", "footprint"),
    ("bandwidth", "read"),
    ("mode", "routing"),
)


class StatusLine(Static):
    """As many figures as the width holds, most asked for first."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(markup=False, id=id)
        self._figures = Figures()

    def show(self, figures: Figures) -> None:
        self._figures = figures
        self.update(self._draw(self.content_size.width), layout=False)

    def on_resize(self) -> None:
        self.update(self._draw(self.content_size.width), layout=False)

    def _draw(self, width: int) -> Content:
        values = self._figures.values()
        line = Content("")
        if self._figures.prefill:
            done, total = self._figures.prefill
            line = Content.assemble(("prefill ", "$text-muted"), (f"{done:,} / {total:,}", "$accent"))
        for id, label in _SHOWN:
            value = values.get(id, units.UNKNOWN)
            if value == units.UNKNOWN:
                continue
            part = Content.assemble((f"{label} " if label else "", "$text-muted"), (value, "$foreground"))
            gap = 3 if line.cell_length else 0
            if line.cell_length + gap + part.cell_length > width:
                break
            line = Content.assemble(line, (" · " if gap else "", "$text-disabled"), part)
        return line
