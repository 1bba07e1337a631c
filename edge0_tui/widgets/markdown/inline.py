"""Inline Markdown as styled `Content`: emphasis, code, links, mathematics.

The same pieces are met again and again while a text grows, so the last few hundred results are kept.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token
from textual.content import Content, Span
from textual.style import Style

from edge0_tui.widgets.markdown import palette

_LINKABLE = re.compile(r"(https?://|mailto:)[^\x00-\x20\x7f-\x9f]+", re.IGNORECASE)
_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
_STYLES = {"strong": palette.STRONG, "em": palette.EMPHASIS, "s": palette.STRUCK}


class Inline:
    """Renders inline sources with one parser and the link definitions known so far."""

    def __init__(self, parser: MarkdownIt, env: Mapping[str, Any], keep: int = 512) -> None:
        self._parser = parser
        self._env = dict(env)
        self._keep = keep
        self._done: OrderedDict[str, Content] = OrderedDict()

    def __call__(self, source: str) -> Content:
        if (known := self._done.get(source)) is not None:
            self._done.move_to_end(source)
            return known
        tokens = self._parser.parseInline(source, self._env)
        content = render(tokens[0].children or []) if tokens else Content()
        self._done[source] = content
        if len(self._done) > self._keep:
            self._done.popitem(last=False)
        return content


def render(tokens: list[Token]) -> Content:
    """Flatten inline tokens into text and spans."""
    text = ""
    spans: list[Span] = []
    opened: list[tuple[int, list[str | Style]]] = []
    for token in tokens:
        if token.nesting == 1:
            opened.append((len(text), _opening(token)))
        elif token.nesting == -1:
            start, styles = opened.pop()
            spans += [Span(start, len(text), style) for style in styles]
        else:
            added, style = _leaf(token)
            if style:
                spans.append(Span(len(text), len(text) + len(added), style))
            text += added
    # Outer styles first: a later span wins where both set the same property.
    return Content(text, sorted(spans, key=lambda span: (span.start, -span.end)))


def _opening(token: Token) -> list[str | Style]:
    if token.type != "link_open":
        style = _STYLES.get(token.tag)
        return [style] if style else []
    href = str(token.attrGet("href") or "")
    return [palette.LINK, link_style(href)] if _LINKABLE.fullmatch(href) else []


def link_style(href: str) -> Style:
    """Clickable inside the application through its meta, outside through the terminal's own hyperlinks."""
    return Style.from_meta({"href": href}) + Style(link=href)


def _leaf(token: Token) -> tuple[str, str]:
    match token.type:
        case "code_inline":
            return token.content, palette.CODE
        case "math_inline":
            return token.content, palette.MATH
        case "softbreak":
            return " ", ""
        case "hardbreak":
            return "\n", ""
        case "image":
            return f"[{token.content or 'image'}]", palette.EMPHASIS
    return _BREAK.sub("\n", token.content), ""
