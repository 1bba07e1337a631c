"""A list of words and what they mean, in two columns; the second wraps under itself."""

from __future__ import annotations

import textwrap

from textual.content import Content
from textual.widgets import Static

_NARROW = 48


class Definitions(Static):
    """Below 48 columns the meaning goes under its word."""

    def __init__(self, pairs: list[tuple[str, str]], head: int) -> None:
        super().__init__(markup=False)
        self._pairs, self._head = pairs, head

    def on_resize(self) -> None:
        self.update(self._draw(self.content_size.width))

    def _draw(self, width: int) -> Content:
        indent = 2 if width < _NARROW else self._head
        lines: list[Content] = []
        for word, meaning in self._pairs:
            wrapped = textwrap.wrap(meaning, max(10, width - indent)) or [""]
            if width < _NARROW:
                lines.append(Content.styled(word, "$primary"))
            else:
                lines.append(Content.assemble((word.ljust(indent), "$primary"), wrapped.pop(0)))
            lines += [Content(" " * indent + text) for text in wrapped]
        return Content("\n").join(lines)
