"""What a Markdown text consists of, independent of any width or theme.

Two blocks are equal when their sources and places are: styled contents are derived from the source, so they
take no part in the comparison.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from textual.content import Content


@dataclass(frozen=True)
class Block:
    """`spaced`: the source has an empty line before this block. `line`: where it starts in the parsed text."""

    source: str
    spaced: bool = False
    line: int = field(default=0, compare=False)


@dataclass(frozen=True)
class Label(Block):
    """One row about the text rather than of it: shortened to fit, never part of what is copied."""

    content: Content = field(default=Content(), compare=False)


@dataclass(frozen=True)
class Plain(Block):
    """Text shown as it is, line by line: what a user typed."""


@dataclass(frozen=True)
class Paragraph(Block):
    content: Content = field(default=Content(), compare=False)


@dataclass(frozen=True)
class Heading(Block):
    content: Content = field(default=Content(), compare=False)
    level: int = 1


@dataclass(frozen=True)
class Code(Block):
    """A fence or an indented block. Only a `closed` one is highlighted: an open one changes at every token."""

    text: str = ""
    language: str = ""
    closed: bool = True


@dataclass(frozen=True)
class Math(Block):
    """Display mathematics, shown as written."""

    text: str = ""


@dataclass(frozen=True)
class Rule(Block):
    """A horizontal line."""


@dataclass(frozen=True)
class Quote(Block):
    children: tuple[Block, ...] = ()


@dataclass(frozen=True)
class Item(Block):
    """One list item. Items are blocks of their own, so that a growing list is cheap: all but the last are done.

    `ordinal` is the number shown, None for a bullet; `checked` is set for task items; `first` starts a list.
    """

    children: tuple[Block, ...] = ()
    ordinal: int | None = None
    mark: str = "-"
    checked: bool | None = None
    depth: int = 0
    first: bool = False


@dataclass(frozen=True)
class Table(Block):
    header: tuple[Content, ...] = field(default=(), compare=False)
    rows: tuple[tuple[Content, ...], ...] = field(default=(), compare=False)
    aligns: tuple[str, ...] = ()


def gap(previous: Block | None, block: Block) -> int:
    """Empty lines between two neighbours: as the source has them, and always around what needs air."""
    if previous is None:
        return 0
    if isinstance(block, Item) and isinstance(previous, Item) and not block.first:
        return int(block.spaced)
    if isinstance(previous, Heading):
        return int(block.spaced or isinstance(block, Heading))
    roomy = (Heading, Table, Code, Quote, Rule, Math)
    return int(block.spaced or isinstance(block, roomy) or isinstance(previous, roomy))
