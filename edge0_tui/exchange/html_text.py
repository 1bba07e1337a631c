"""Markdown of an answer as HTML, in the dialect that the screen shows."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import OptionsDict

from edge0_tui.widgets.markdown.parser import dialect


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
    return _Renderer().render(md.parse(text, env), md.options, env)
