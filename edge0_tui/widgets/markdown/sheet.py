"""Lays blocks out as rows of a given width, keeping for each row where its text comes from.

A *row* is one line on screen, a *line* one line of text: a paragraph is one line and several rows. Selecting
and copying work on lines, so that wrapping, indents, bars and bullets never get into what is copied.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

from rich._wrap import divide_line
from textual.content import Content

_NOTHING = Content()
_NARROWEST = 4


@dataclass(slots=True)
class Row:
    """`content` starts at `start` of line `line`. `fill` styles the row from `margin` to its end. `late` gives
    the content only when the row is first shown, for what is expensive and changes no size."""

    prefix: Content
    content: Content
    line: int
    start: int = 0
    fill: str = ""
    margin: str = ""
    late: Callable[[], Content] | None = None

    def is_same(self, other: Row) -> bool:
        """Whether both look the same and come from the same place. What is only known when shown never is."""
        return (
            self.late is None is other.late
            and (self.line, self.start, self.fill, self.margin)
            == (other.line, other.start, other.fill, other.margin)
            and self.prefix.is_same(other.prefix)
            and self.content.is_same(other.content)
        )


class Sheet:
    """Rows and lines of one block, built from top to bottom."""

    def __init__(self, width: int, base: str = "") -> None:
        self.rows: list[Row] = []
        self.lines: list[str] = []
        self.codes: list[str] = []
        self._width = max(1, width)
        self._base = base
        self._first = _NOTHING
        self._rest = _NOTHING

    @property
    def width(self) -> int:
        """What is left for content between the indents."""
        return max(1, self._width - self._rest.cell_length)

    @contextmanager
    def inset(self, first: Content, rest: Content, base: str = "") -> Iterator[None]:
        """Put `first` before the next row and `rest` before those after it. No room left: no indent."""
        before = self._first, self._rest, self._base
        rows = len(self.rows)
        if self._width - self._rest.cell_length - rest.cell_length >= _NARROWEST:
            self._first, self._rest = self._first + first, self._rest + rest
        self._base = f"{base} {self._base}".strip()
        yield
        self._first, self._rest, self._base = before
        if len(self.rows) > rows:
            self._first = self._rest

    def blank(self) -> None:
        self.lines.append("")
        self._row(_NOTHING)

    def text(self, content: Content) -> None:
        """One or more lines of text, wrapped at words."""
        for line in content.split("\n", allow_blank=True):
            line = line.expand_tabs(4)
            self.lines.append(line.plain)
            if self._base:
                line = line.stylize_before(self._base)
            for start, piece in wrapped(line, self.width):
                self._row(piece, start)

    def fixed(self, content: Content, line: str) -> None:
        """One row as it is, for what is already cut to the width; `line` is what copying it gives."""
        self.lines.append(line)
        self._row(content.stylize_before(self._base) if self._base else content)

    def label(self, content: Content, fill: str = "", margin: str = "") -> None:
        """A row that belongs to no line of text, such as the head of a code block."""
        self._row(content, fill=fill, margin=margin, line=len(self.lines))

    def late(self, plain: str, styled: Callable[[], Content] | None, fill: str, margin: str) -> None:
        """A line folded at any character and, if it has styles, styled only when it is shown."""
        self.lines.append(plain)
        cuts = [0, *fold(plain, max(1, self.width - 2 * len(margin))), len(plain)]
        for start, end in itertools.pairwise(cuts):
            piece = partial(_piece, styled, start, end) if styled else None
            self._row(Content(plain[start:end]), start, fill=fill, margin=margin, late=piece)

    def _row(
        self,
        content: Content,
        start: int = 0,
        *,
        fill: str = "",
        margin: str = "",
        line: int | None = None,
        late: Callable[[], Content] | None = None,
    ) -> None:
        line = len(self.lines) - 1 if line is None else line
        self.rows.append(Row(self._first, content, line, start, fill, margin, late))
        self._first = self._rest


def _piece(styled: Callable[[], Content], start: int, end: int) -> Content:
    return styled()[start:end]


def wrapped(line: Content, width: int) -> list[tuple[int, Content]]:
    """Pieces of one line that fit the width, each with where it starts."""
    if line.cell_length <= width:
        return [(0, line)]
    cuts = divide_line(line.plain, width, fold=True)
    pieces = line.divide(cuts)
    return [(start, _trimmed(piece, width)) for start, piece in zip([0, *cuts], pieces, strict=True)]


def _trimmed(piece: Content, width: int) -> Content:
    """Spaces at the end may hang over the edge; so may a cluster that is wider than its characters one by one."""
    return piece if piece.cell_length <= width else piece.rstrip().truncate(width)


def fold(text: str, width: int) -> list[int]:
    """Where to cut so that every part fits, regardless of words."""
    if len(text) <= width and text.isascii():
        return []
    cuts: list[int] = []
    room = width
    for index, character in enumerate(text):
        cells = Content(character).cell_length if not character.isascii() else 1
        if cells > room and index:
            cuts.append(index)
            room = width
        room -= cells
    return cuts
