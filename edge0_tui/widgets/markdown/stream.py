"""Markdown that arrives in pieces: what is certain is parsed once, only the rest is parsed again.

A top-level block, or an item of a top-level list, is certain once a later one has begun on a *complete* line:
nothing that follows can change it, with one exception. A link definition anywhere gives a meaning to text far
above it; a text that holds one is parsed as a whole each time.
"""

from __future__ import annotations

from typing import Any

from markdown_it.token import Token

from edge0_tui.widgets.markdown.blocks import Block, Item
from edge0_tui.widgets.markdown.build import Builder, Carry
from edge0_tui.widgets.markdown.inline import Inline
from edge0_tui.widgets.markdown.parser import dialect
from edge0_tui.widgets.markdown.safe import harmless


def parse(text: str) -> list[Block]:
    """All blocks of a text that is complete."""
    env: dict[str, Any] = {}
    text = harmless(text)
    tokens = _tokens(text, env)
    return Builder(text.split("\n"), Inline(dialect(), env)).build(tokens)


class MarkdownStream:
    """`closed` only grows (unless `generation` changes: then start over); `open` may change with every piece."""

    def __init__(self) -> None:
        self.closed: list[Block] = []
        self.open: list[Block] = []
        self.generation = 0
        self._certain = ""
        self._tail = ""
        self._held = ""
        self._carry = Carry()
        self._inline = Inline(dialect(), {})
        self._definitions: dict[str, Any] | None = None

    @property
    def blocks(self) -> list[Block]:
        return self.closed + self.open

    def append(self, piece: str, final: bool = False) -> None:
        """Take more text; `final` says that nothing will follow."""
        piece = self._held + piece
        # A carriage return may be the first half of a line end.
        self._held = "\r" if piece.endswith("\r") and not final else ""
        piece = harmless(piece.removesuffix(self._held) if self._held else piece)
        self._tail += piece
        if self._definitions is None and "\n" in piece:
            self._close()
        if self._definitions is None:
            env: dict[str, Any] = {}
            tokens = _tokens(self._tail, env)
            if not (final and env.get("references")):
                self.open = self._build(self._tail, tokens, final)
                return
            self._start_over()
        self._whole(final)

    def _close(self) -> None:
        """Move what the complete lines have made certain from the tail to `closed`."""
        complete = self._tail[: self._tail.rindex("\n") + 1]
        env: dict[str, Any] = {}
        tokens = _tokens(complete, env)
        if env.get("references"):
            self._start_over()
            return
        blocks = self._build(complete, tokens, final=False)
        if len(blocks) < 2:
            return
        *certain, last = blocks
        goes_on = isinstance(last, Item) and not last.first
        ordinal = last.ordinal if isinstance(last, Item) else None
        lines = self._tail.split("\n")
        self.closed += certain
        self._carry = Carry(last.spaced, ordinal, goes_on)
        self._certain += "\n".join(lines[: last.line]) + "\n"
        self._tail = "\n".join(lines[last.line :])

    def _start_over(self) -> None:
        """The text holds a link definition: from now on all of it is parsed at once."""
        self._tail = self._certain + self._tail
        self._certain = ""
        self._carry = Carry()
        self.closed = []
        self._definitions = {}

    def _whole(self, final: bool) -> None:
        env: dict[str, Any] = {}
        tokens = _tokens(self._tail, env)
        definitions = env.get("references", {})
        if definitions != self._definitions:
            self._definitions = definitions
            self._inline = Inline(dialect(), env)
            self.generation += 1
        self.open = self._build(self._tail, tokens, final)

    def _build(self, text: str, tokens: list[Token], final: bool) -> list[Block]:
        return Builder(text.split("\n"), self._inline, self._carry, final).build(tokens)


def _tokens(text: str, env: dict[str, Any]) -> list[Token]:
    """Block structure only; link definitions are collected in `env`."""
    md = dialect()
    tokens: list[Token] = []
    md.block.parse(text, md, env, tokens)
    return tokens
