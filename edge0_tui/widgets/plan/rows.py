"""The kinds of rows the card is made of. Widths are in cells; no row is wider than asked for."""

from __future__ import annotations

from textual.content import Content

from edge0_tui.widgets.bars import meter

LABEL = 18
"""Cells of the column of names."""
VALUE = 10
"""Cells of a column of sizes: `1,023 MiB` and a space."""
Rows = list[Content]


def section(name: str, width: int) -> Rows:
    """An empty row and a rule with its name."""
    rule = "─" * max(0, width - len(name) - 1)
    line = Content.assemble((name + " ", "$text-muted"), (rule, "$hairline"))
    return [Content(""), line.truncate(width, ellipsis=True)]


def wrapped(text: str, width: int, style: str = "", indent: int = 0) -> Rows:
    """A text on as many rows as it needs; later rows begin under the first one."""
    body = Content.styled(" ".join(text.split()), style) if style else Content(" ".join(text.split()))
    return [line.rstrip().pad_left(indent) for line in body.wrap(max(10, width - indent))] if text else []


def bullet(text: str, width: int, style: str = "$text-muted") -> Rows:
    """A sentence of a list."""
    first, *rest = wrapped(text, width, style, indent=2)
    return [Content.assemble(("· ", "$text-disabled"), (first.plain[2:], style)), *rest]


def pair(name: str, value: str, width: int, style: str = "$foreground", label: int = LABEL) -> Rows:
    """A name and what it is; a long value goes on below itself."""
    lines = wrapped(value, width - label, style) or [Content("")]
    first = Content.assemble((name.ljust(label), "$text-muted"), lines[0])
    return [first, *(line.pad_left(label) for line in lines[1:])]


def barred(
    name: str, share: float, value: str, width: int, *, style: str = "$primary", label: int = LABEL, note: str = ""
) -> Content:
    """A name, a bar that fills what is left, and a value against the right edge."""
    room = width - label - max(VALUE, len(value) + 1)
    full, rest = meter(share, room) if room >= 4 else ("", " " * max(0, room))
    named = Content.assemble((name, "$text-muted"), (f" {note}" if note else "", "$text-disabled"))
    named = named.truncate(label - 1, ellipsis=True)
    return Content.assemble(
        named,
        " " * (label - named.cell_length),
        (full, style),
        (rest, "$hairline"),
        (value.rjust(width - label - room), "$foreground"),
    )
