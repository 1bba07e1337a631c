"""Tables: natural widths where they fit, shared fairly where not, one record a paragraph where nothing helps."""

from __future__ import annotations

from rich.cells import cell_len
from textual.content import Content

from edge0_tui.widgets.markdown import palette
from edge0_tui.widgets.markdown.blocks import Table
from edge0_tui.widgets.markdown.sheet import Sheet, wrapped

SPACE = "  "
# A longer word may be cut.
_WORD = 20


def lay_table(sheet: Sheet, block: Table) -> None:
    columns = [[row[index] for row in (block.header, *block.rows)] for index in range(len(block.header))]
    natural = [max(1, *(part.cell_length for cell in column for part in _lines(cell))) for column in columns]
    least = [min(wanted, _longest_word(column)) for wanted, column in zip(natural, columns, strict=True)]
    widths = shares(natural, least, sheet.width - len(SPACE) * (len(natural) - 1))
    if widths is None:
        _records(sheet, block)
        return
    _row(sheet, block.header, widths, block.aligns, palette.TABLE_HEAD)
    sheet.label(Content(SPACE.join("─" * width for width in widths)).stylize(palette.LINE))
    for row in block.rows:
        _row(sheet, row, widths, block.aligns, "")


def shares(natural: list[int], least: list[int], room: int) -> list[int] | None:
    """How wide each column becomes: as wide as it likes where possible, else room is taken from the widest
    first, never below `least`. None when even that does not fit."""
    if sum(least) > room:
        return None
    low, high = 0, max(natural)
    while low < high:
        limit = (low + high + 1) // 2
        if sum(_limited(natural, least, limit)) <= room:
            low = limit
        else:
            high = limit - 1
    widths = _limited(natural, least, low)
    for index, wanted in enumerate(natural):
        if sum(widths) < room and widths[index] < wanted:
            widths[index] += 1
    return widths


def _limited(natural: list[int], least: list[int], limit: int) -> list[int]:
    return [max(lowest, min(wanted, limit)) for wanted, lowest in zip(natural, least, strict=True)]


def _longest_word(column: list[Content]) -> int:
    words = (word for cell in column for word in cell.plain.split())
    return min(_WORD, max((cell_len(word) for word in words), default=1))


def _row(sheet: Sheet, cells: tuple[Content, ...], widths: list[int], aligns: tuple[str, ...], style: str) -> None:
    columns = [
        [piece for part in _lines(cell) for _, piece in wrapped(part, width)]
        for cell, width in zip(cells, widths, strict=True)
    ]
    for index in range(max(len(column) for column in columns)):
        parts = [
            _aligned(column[index] if index < len(column) else Content(), width, align)
            for column, width, align in zip(columns, widths, aligns, strict=True)
        ]
        content = Content(SPACE).join(parts)
        sheet.fixed(content.stylize(style) if style else content, content.plain.rstrip())


def _aligned(cell: Content, width: int, align: str) -> Content:
    space = max(0, width - cell.cell_length)
    left = {"right": space, "center": space // 2}.get(align, 0)
    return cell.pad(left, space - left)


def _records(sheet: Sheet, block: Table) -> None:
    """Too narrow for columns: each row as `header: cell` lines."""
    for number, row in enumerate(block.rows or (block.header,)):
        if number:
            sheet.blank()
        for head, cell in zip(block.header, row, strict=True):
            sheet.text(head.stylize(palette.TABLE_HEAD) + ": " + cell if block.rows else cell)


def _lines(cell: Content) -> list[Content]:
    return cell.split("\n", allow_blank=True)
