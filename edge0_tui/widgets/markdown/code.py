"""Code blocks: a head with the language and a copy key, then the code on its own ground."""

from __future__ import annotations

from functools import cache

from pygments.token import Token  # type: ignore[import-untyped]
from textual.content import Content
from textual.highlight import HighlightTheme, highlight
from textual.style import Style

from edge0_tui.widgets.markdown import palette
from edge0_tui.widgets.markdown.blocks import Code
from edge0_tui.widgets.markdown.sheet import Sheet

MARGIN = "  "
COPY = "copy"


class Colours(HighlightTheme):
    """Few colours, so that code reads as calmly as the text around it."""

    STYLES = {
        Token.Comment: f"italic {palette.MUTED}",
        Token.Keyword: "$text-accent",
        Token.Literal.String: "$text-success",
        Token.Literal.Number: "$text-warning",
        Token.Name.Decorator: "$text-secondary",
        Token.Name.Function: "$text-primary",
        Token.Name.Class: "$text-primary",
        Token.Name.Tag: "$text-primary",
        Token.Name.Attribute: "$text-secondary",
        Token.Generic.Inserted: "$text-success",
        Token.Generic.Deleted: "$text-error",
        Token.Generic.Heading: "bold",
    }


def lay_code(sheet: Sheet, block: Code) -> None:
    number = len(sheet.codes)
    sheet.codes.append(block.text)
    _head(sheet, block, number)
    lines = block.text.split("\n")

    @cache
    def painted() -> list[Content]:
        styled = highlight("\n".join(line.expandtabs(4) for line in lines), language=block.language, theme=Colours)
        return styled.split("\n", allow_blank=True)

    for index, line in enumerate(lines):

        def whole(index: int = index) -> Content:
            styled = painted()
            return styled[index] if index < len(styled) else Content()

        highlighted = whole if block.closed and block.language else None
        sheet.late(line.expandtabs(4), highlighted, palette.FENCE, MARGIN)


def _head(sheet: Sheet, block: Code, number: int) -> None:
    room = sheet.width - 2 * len(MARGIN)
    head = Content(block.language or "text").truncate(max(1, room), ellipsis=True).stylize(palette.FENCE_HEAD)
    space = room - head.cell_length - len(COPY)
    if space >= 1:
        copy = Content(COPY).stylize(f"underline {palette.FENCE_HEAD}")
        head += Content(" " * space) + copy.stylize(Style.from_meta({"code": number}))
    sheet.label(head, palette.FENCE, MARGIN)
