"""Which block looks how. One function for each kind; the sheet does the wrapping."""

from __future__ import annotations

from textual.content import Content

from edge0_tui.widgets.markdown import palette
from edge0_tui.widgets.markdown.blocks import (
    Block,
    Code,
    Heading,
    Item,
    Label,
    Math,
    Paragraph,
    Plain,
    Quote,
    Rule,
    Table,
    gap,
)
from edge0_tui.widgets.markdown.code import lay_code
from edge0_tui.widgets.markdown.safe import harmless
from edge0_tui.widgets.markdown.sheet import Sheet
from edge0_tui.widgets.markdown.table import lay_table

BULLETS = "•◦▪"
BAR = "▎ "


def lay(sheet: Sheet, block: Block) -> None:
    """Add the rows of one block to the sheet."""
    match block:
        case Label():
            sheet.label(block.content.truncate(sheet.width, ellipsis=True))
        case Plain():
            sheet.text(Content(harmless(block.source)))
        case Paragraph():
            sheet.text(block.content)
        case Heading():
            sheet.text(block.content.stylize_before(palette.HEADING.get(block.level, palette.HEADING_DEEP)))
        case Code():
            lay_code(sheet, block)
        case Math():
            with sheet.inset(Content("  "), Content("  ")):
                sheet.text(Content(block.text).stylize(palette.MATH))
        case Rule():
            sheet.label(Content("─" * sheet.width).stylize(palette.LINE))
        case Quote():
            bar = Content(BAR).stylize(palette.BAR)
            with sheet.inset(bar, bar, palette.QUOTED):
                lay_all(sheet, block.children)
        case Item():
            _item(sheet, block)
        case Table():
            lay_table(sheet, block)


def lay_all(sheet: Sheet, blocks: tuple[Block, ...]) -> None:
    """Blocks below each other with the gaps between them."""
    previous: Block | None = None
    for block in blocks:
        for _ in range(gap(previous, block)):
            sheet.blank()
        lay(sheet, block)
        previous = block


def _item(sheet: Sheet, block: Item) -> None:
    mark = _mark(block)
    with sheet.inset(mark, Content(" " * mark.cell_length)):
        if block.children:
            lay_all(sheet, block.children)
        else:
            sheet.text(Content())


def _mark(block: Item) -> Content:
    if block.checked is not None:
        return Content("☑ ").stylize(palette.CHECKED) if block.checked else Content("☐ ").stylize(palette.QUOTED)
    if block.ordinal is not None:
        return Content(f"{block.ordinal}. ").stylize(palette.BULLET)
    return Content(f"{BULLETS[min(block.depth, len(BULLETS) - 1)]} ").stylize(palette.BULLET)
