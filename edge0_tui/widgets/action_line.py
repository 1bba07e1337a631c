"""A line of keys and words for what can be done now; each can be clicked, and what does not fit is left out."""

from __future__ import annotations

from collections.abc import Sequence

from textual import events
from textual.content import Content
from textual.style import Style
from textual.widgets import Static

Entry = tuple[str, str, str]
"""The key as people read it, its word, and the action of the screen that it stands for; empty: none."""


class ActionLine(Static):
    """On as many rows as its height has."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(markup=False, id=id)
        self._entries: tuple[Entry, ...] = ()

    def show(self, entries: Sequence[Entry]) -> None:
        if tuple(entries) != self._entries:
            self._entries = tuple(entries)
            self._draw()

    def on_resize(self) -> None:
        self._draw()

    def _draw(self) -> None:
        width, rows = self.content_size.width, max(1, self.content_size.height)
        lines = [Content("")]
        for key, word, action in self._entries:
            entry = Content.assemble((key, "$primary bold"), (" " + word, "$text-muted"))
            if action:
                entry = entry.stylize(Style.from_meta({"action": action}))
            gap = "   " if lines[-1].cell_length else ""
            if lines[-1].cell_length + len(gap) + entry.cell_length > width:
                if len(lines) == rows:
                    break
                lines.append(Content(""))
                gap = ""
            lines[-1] = Content.assemble(lines[-1], gap, entry)
        self.update(Content("\n").join(lines), layout=False)

    async def on_click(self, event: events.Click) -> None:
        if action := event.style.meta.get("action"):
            await self.screen.run_action(action)
