"""Parts of a message: fixed blocks, or Markdown that grows. Both are lists of entries to the view."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content

from edge0_tui.widgets.markdown.blocks import Block, gap
from edge0_tui.widgets.markdown.entry import Entry
from edge0_tui.widgets.markdown.stream import MarkdownStream


class Section:
    """Entries shown below each other. `above` is the number of empty rows before the first."""

    def __init__(
        self, blocks: Sequence[Block] = (), *, above: int = 0, base: str = "", bar: Content | None = None
    ) -> None:
        self.above = above
        self._base = base
        self._bar = bar
        self.entries: list[Entry] = []
        self.set(blocks)

    def set(self, blocks: Sequence[Block], keep: int = 0) -> None:
        """Show these blocks. The first `keep` are known to be the ones already there; of the others, those
        that are equal to what was shown keep their layout."""
        old = self.entries
        entries = old[:keep]
        for index in range(keep, len(blocks)):
            block = blocks[index]
            space = gap(blocks[index - 1], block) if index else self.above
            same = index < len(old) and old[index].block == block and old[index].gap == space
            entries.append(old[index] if same else Entry(block, space, self._base, self._bar))
        self.entries = entries

    def set_above(self, rows: int) -> None:
        """Change the distance to what is above."""
        if rows != self.above:
            self.above = rows
            self.set([entry.block for entry in self.entries])


class Growing(Section):
    """A section fed with Markdown piece by piece."""

    def __init__(self, *, above: int = 0, base: str = "", bar: Content | None = None) -> None:
        super().__init__(above=above, base=base, bar=bar)
        self._stream = MarkdownStream()
        self._generation = 0

    def append(self, piece: str, final: bool = False) -> None:
        closed = len(self._stream.closed)
        self._stream.append(piece, final)
        if self._stream.generation != self._generation:
            self._generation = self._stream.generation
            self.entries = []
        keep = min(closed, len(self._stream.closed), len(self.entries))
        self.set(self._stream.blocks, keep)
