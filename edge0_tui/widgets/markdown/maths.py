"""Markdown-it rules that keep mathematics as written, instead of reading `_`, `*` and `\\` in it as Markdown."""

from __future__ import annotations

import re

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline

_CLOSING = {"$$": "$$", "\\[": "\\]"}
# `$5 and $6` is money: an opening dollar is followed, a closing one preceded by something, and no digit follows.
_DOLLARS = re.compile(r"\$\$(?P<display>[^$]+)\$\$|\$(?P<dollar>[^\s$](?:[^$\n]*[^\s$\\])?)\$(?!\d)")
_BRACKETS = {"\\(": "\\)", "\\[": "\\]"}


def install(md: MarkdownIt) -> None:
    md.inline.ruler.before("escape", "math_inline", math_inline)
    md.block.ruler.before(
        "fence", "math_block", math_block, {"alt": ["paragraph", "reference", "blockquote", "list"]}
    )


def math_inline(state: StateInline, silent: bool) -> bool:
    if state.src[state.pos] not in "$\\":
        return False
    span = _dollars(state) if state.src[state.pos] == "$" else _brackets(state)
    if span is None:
        return False
    begin, end, after = span
    if not silent:
        token = state.push("math_inline", "math", 0)
        token.content = state.src[begin:end].strip()
    state.pos = after
    return True


def _dollars(state: StateInline) -> tuple[int, int, int] | None:
    """Where the content begins and ends, and where the text goes on."""
    match = _DOLLARS.match(state.src, state.pos)
    if match is None:
        return None
    return *match.span("display" if match["display"] is not None else "dollar"), match.end()


def _brackets(state: StateInline) -> tuple[int, int, int] | None:
    """The same for `\\(…\\)` and `\\[…\\]`.

    Each of many that stay open would be followed to the end of the text: a model that repeats itself would stop the
    screen for minutes. So it is remembered from where on nothing closes any more.
    """
    begin = state.pos + 2
    closing = _BRACKETS.get(state.src[state.pos : begin])
    if closing is None:
        return None
    text, nothing_from = state.env.get(closing, ("", 0))
    if text is state.src and state.pos >= nothing_from:
        return None
    end = state.src.find(closing, begin + 1)
    if end < 0:
        state.env[closing] = state.src, state.pos
        return None
    return begin, end, end + 2


def math_block(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """From a line `$$` or `\\[` to its counterpart, or, like an open fence, to where the text stops."""
    if state.is_code_block(start):
        return False
    closing = _CLOSING.get(_line(state, start).strip())
    if closing is None:
        return False
    if silent:
        return True
    line = start + 1
    while line < end and not state.isEmpty(line) and state.sCount[line] >= state.blkIndent:
        if _line(state, line).strip() == closing:
            break
        line += 1
    closed = line < end and _line(state, line).strip() == closing
    token = state.push("math_block", "math", 0)
    token.block = True
    token.content = state.getLines(start + 1, line, state.sCount[start], False)
    state.line = line + 1 if closed else line
    token.map = [start, state.line]
    return True


def _line(state: StateBlock, line: int) -> str:
    return state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]]
