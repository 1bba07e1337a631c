"""From markdown-it's block tokens to blocks. Inline text is rendered on the way, through a cache."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from markdown_it.token import Token
from textual.content import Content

from edge0_tui.widgets.markdown.blocks import Block, Code, Heading, Item, Math, Paragraph, Quote, Rule, Table

_WORDS = re.compile(r"[^\W\d]")
_TASK = re.compile(r"\[([ xX])\]\s+")


@dataclass(frozen=True)
class Carry:
    """What a text cut between two items of a list has to know about its beginning."""

    spaced: bool = False
    ordinal: int | None = None
    inside_list: bool = False


class Builder:
    """Walks one token stream. `final` means that no more text will come, so that open fences count as closed."""

    def __init__(
        self, lines: list[str], inline: Callable[[str], Content], carry: Carry | None = None, final: bool = True
    ) -> None:
        self._lines = lines
        self._inline = inline
        self._carry = carry or Carry()
        self._final = final
        self._depth = 0

    def build(self, tokens: list[Token]) -> list[Block]:
        """The top-level blocks; the items of a top-level list are blocks of their own."""
        blocks = self._children(tokens, 0, len(tokens))
        if blocks and self._carry.spaced:
            blocks[0] = replace(blocks[0], spaced=True)
        return blocks

    def _children(self, tokens: list[Token], start: int, end: int) -> list[Block]:
        result: list[Block] = []
        while start < end:
            stop = _closing(tokens, start)
            result += self._block(tokens, start, stop)
            start = stop + 1
        return result

    def _block(self, tokens: list[Token], start: int, stop: int) -> list[Block]:
        token = tokens[start]
        first, last = token.map or (0, 0)
        source = "\n".join(self._lines[first:last]).rstrip()
        spaced = self._spaced(first)
        match token.type:
            case "paragraph_open":
                return [Paragraph(source, spaced, first, self._inline(tokens[start + 1].content))]
            case "heading_open":
                content = self._inline(tokens[start + 1].content)
                return [Heading(source, spaced, first, content, int(token.tag[1:]))]
            case "fence":
                closed = self._final or self._fence_closed(token, first, last)
                language = token.info.split(maxsplit=1)[0] if token.info.strip() else ""
                return [Code(source, spaced, first, token.content.removesuffix("\n"), language, closed)]
            case "code_block":
                return [Code(source, spaced, first, token.content.removesuffix("\n"))]
            case "math_block":
                return [Math(source, spaced, first, token.content.strip("\n"))]
            case "hr":
                return [Rule(source, spaced, first)]
            case "blockquote_open":
                return [Quote(source, spaced, first, self._inner(tokens, start, stop, source))]
            case "bullet_list_open" | "ordered_list_open":
                return self._items(tokens, start, stop)
            case "table_open":
                return [self._table(Table(source, spaced, first), tokens[start + 1 : stop])]
        raise AssertionError(f"the dialect has no block {token.type}")

    def _items(self, tokens: list[Token], start: int, stop: int) -> list[Block]:
        opening = tokens[start]
        begin = opening.attrGet("start")
        ordinal = None if opening.type.startswith("bullet") else 1 if begin is None else int(begin)
        goes_on = start == 0 and self._depth == 0 and self._carry.inside_list
        if goes_on:
            ordinal = self._carry.ordinal
        items: list[Block] = []
        index = start + 1
        while index < stop:
            end = _closing(tokens, index)
            items.append(self._item(tokens, index, end, ordinal, first=not items and not goes_on))
            ordinal = None if ordinal is None else ordinal + 1
            index = end + 1
        return items

    def _item(self, tokens: list[Token], start: int, stop: int, ordinal: int | None, first: bool) -> Item:
        token = tokens[start]
        begin, end = token.map or (0, 0)
        checked = None
        if start + 2 < stop and tokens[start + 1].type == "paragraph_open":
            text = tokens[start + 2]
            if task := _TASK.match(text.content):
                checked = task[1] != " "
                text.content = text.content[task.end() :]
        self._depth += 1
        source = "\n".join(self._lines[begin:end]).rstrip()
        children = self._inner(tokens, start, stop, source)
        self._depth -= 1
        return Item(
            source, self._spaced(begin), begin, children, ordinal, token.markup, checked, self._depth, first
        )

    def _inner(self, tokens: list[Token], start: int, stop: int, source: str) -> tuple[Block, ...]:
        """The children of a container. Below the parser's deepest level there are none, and the source is shown
        rather than lost."""
        children = self._children(tokens, start + 1, stop)
        if not children and _WORDS.search(source):
            return (Paragraph(source, content=Content(source)),)
        # What is above the first child is above the container, and may be in a part parsed before.
        return tuple(replace(child, spaced=False) if index == 0 else child for index, child in enumerate(children))

    def _table(self, table: Table, tokens: list[Token]) -> Table:
        rows: list[list[Content]] = []
        aligns: list[str] = []
        for token in tokens:
            if token.type == "tr_open":
                rows.append([])
            elif token.type == "inline":
                rows[-1].append(self._inline(token.content))
            elif token.type == "th_open":
                aligns.append(str(token.attrGet("style") or "").removeprefix("text-align:"))
        header, *body = rows
        return replace(table, header=tuple(header), rows=tuple(tuple(row) for row in body), aligns=tuple(aligns))

    def _spaced(self, line: int) -> bool:
        return line > 0 and not self._lines[line - 1].strip(" \t>")

    def _fence_closed(self, token: Token, first: int, last: int) -> bool:
        return last - first >= 2 and self._lines[last - 1].strip(" \t>") == token.markup


def _closing(tokens: list[Token], start: int) -> int:
    """The index of the token that ends what `start` opens (itself when it opens nothing)."""
    if tokens[start].nesting != 1:
        return start
    level = tokens[start].level
    return next(i for i in range(start + 1, len(tokens)) if tokens[i].level == level and tokens[i].nesting == -1)
