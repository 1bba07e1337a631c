"""Markdown of an answer as HTML, in the dialect that the screen shows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from typing import Any

from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import OptionsDict

from edge0_tui.widgets.markdown.parser import dialect

_DIRECTED = {
    f"{name}_open" for name in ("paragraph", "heading", "bullet_list", "ordered_list", "blockquote", "table")
}
"""Each of these alone decides whether it is read from the right: by its first letter."""
_TASK = re.compile(r"\[([ xX])\](?:\s+|$)")


class _Renderer(RendererHTML):
    """Pictures become links, since a page that is read later must not fetch anything; mathematics stays text."""

    def image(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: Any) -> str:
        token = tokens[idx]
        source = str(token.attrs.get("src", ""))
        return f'<a rel="noreferrer" href="{escape(source)}">{escape(token.content or source)}</a>'

    def link_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: Any) -> str:
        tokens[idx].attrSet("rel", "noreferrer")
        return self.renderToken(tokens, idx, options, env)

    def math_inline(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: Any) -> str:
        return f'<span class="math">{escape(tokens[idx].content)}</span>'

    def math_block(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: Any) -> str:
        return f'<pre class="math">{escape(tokens[idx].content)}</pre>\n'


def to_html(text: str) -> str:
    """What is HTML in the text is escaped; only links to safe schemes are links."""
    md = dialect()
    env: dict[str, Any] = {}
    tokens = md.parse(text, env)
    for token in tokens:
        if token.type in _DIRECTED and token.level == 0:
            token.attrSet("dir", "auto")
    _tick(tokens)
    return _Renderer().render(tokens, md.options, env)


def _tick(tokens: Sequence[Token]) -> None:
    """Items of task lists have a box in the place of their dot."""
    for item, _, inline in zip(tokens, tokens[1:], tokens[2:], strict=False):
        first = inline.children[0] if item.type == "list_item_open" and inline.children else None
        if first is not None and (match := _TASK.match(first.content)):
            first.content = f"{'☐' if match[1] == ' ' else '☑'} {first.content[match.end() :]}"
            item.attrSet("class", "task")
