"""The line of keys at the bottom: what can be done now, as much of it as fits. Each entry can be clicked."""

from __future__ import annotations

from textual import events
from textual.content import Content
from textual.style import Style
from textual.widgets import Static

from edge0_tui.keymap import Keymap, keymap_of
from edge0_tui.keys import BY_ID, target


class KeyBar(Static):
    """Shows actions of the registry by id, in order of importance."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(markup=False, id=id)
        self._ids: tuple[str, ...] = ()
        self._words: dict[str, str] = {}
        self._keymap = Keymap()

    def show(self, ids: tuple[str, ...], words: dict[str, str] | None = None) -> None:
        """Show these actions; `words` replaces the registry's word where the moment asks for another."""
        words, keymap = words or {}, keymap_of(self.app)
        if (ids, words, keymap) != (self._ids, self._words, self._keymap):
            self._ids, self._words, self._keymap = ids, words, keymap
            self.update(self._draw(self.content_size.width), layout=False)

    def on_resize(self) -> None:
        self.update(self._draw(self.content_size.width), layout=False)

    def _draw(self, width: int) -> Content:
        line = Content("")
        for id in self._ids:
            action = BY_ID[id]
            word = self._words.get(id, action.bar)
            key = self._keymap.label(id)
            entry = Content.assemble((key, "$primary bold"), (" " * bool(key) + word, "$text-muted"))
            entry = entry.stylize(Style.from_meta({"action": id}))
            gap = "   " if line.cell_length else ""
            if line.cell_length + len(gap) + entry.cell_length > width:
                break
            line = Content.assemble(line, gap, entry)
        return line

    async def on_click(self, event: events.Click) -> None:
        if id := event.style.meta.get("action"):
            await self.app.run_action(target(BY_ID[id]))
