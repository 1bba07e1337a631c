"""The Markdown dialect: CommonMark with tables, strikethrough, bare links and mathematics; HTML stays text."""

from __future__ import annotations

from functools import cache

from markdown_it import MarkdownIt

from edge0_tui.widgets.markdown import maths


@cache
def dialect() -> MarkdownIt:
    """Parsers keep no state between texts, so one is enough."""
    md = MarkdownIt("commonmark", {"html": False, "linkify": True, "maxNesting": 40}).enable(
        ["table", "strikethrough", "linkify"]
    )
    # Without a scheme, `main.py` and `notes.md` would be taken for web addresses.
    assert md.linkify is not None
    md.linkify.set({"fuzzy_link": False, "fuzzy_email": False, "fuzzy_ip": False})
    maths.install(md)
    return md
