"""Markdown-it rules that keep mathematics as written, instead of reading `_`, `*` and `\\` in it as Markdown."""

from __future__ import annotations

import re

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline

_CLOSING = {"$$": "$$", "\\[": "\\]"}
# `$5 and $6` is money: an opening dollar is followed, a closing one preceded by something, and no digit follows.
_INLINE = re.compile(
    r"\$\$(?P<display>[^$]+)\$\$|\$(?P<dollar>[^\s$](?:[^$\n]*[^\s$\\])?)\$(?!\d)"
    r"|\\\((?P<round>.+?)\\\)|\\\[(?P<square>.+?)\\\]",
    re.DOTALL,
)


def install(md: MarkdownIt) -> None:
    md.inline.ruler.before("escape", "math_inline", math_inline)
    md.block.ruler.before(
        "fence", "math_block", math_block, {"alt": ["paragraph", "reference", "blockquote", "list"]}
    )


def math_inline(state: StateInline, silent: bool) -> bool:
    if state.src[state.pos] not in "$\\":
        return False
    match = _INLINE.match(state.src, state.pos)
    if match is None:
        return False
    if not silent:
        token = state.push("math_inline", "math", 0)
        token.content = next(text for text in match.groups() if text is not None).strip()
    state.pos = match.end()
    return True


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
