"""Tables: natural widths where they fit, shared fairly where not, one record a paragraph where nothing helps."""

from __future__ import annotations

from textual.content import Content

from edge0_tui.widgets.markdown import palette
from edge0_tui.widgets.markdown.blocks import Table
from edge0_tui.widgets.markdown.sheet import Sheet, wrapped

SPACE = "  "
_LEAST = 5


def lay_table(sheet: Sheet, block: Table) -> None:
    natural = [
        max(1, *(max(part.cell_length for part in _lines(row[column])) for row in (block.header, *block.rows)))
        for column in range(len(block.header))
    ]
    widths = shares(natural, sheet.width - len(SPACE) * (len(natural) - 1))
    if any(width < min(_LEAST, wanted) for width, wanted in zip(widths, natural, strict=True)):
        _records(sheet, block)
        return
    _row(sheet, block.header, widths, block.aligns, palette.TABLE_HEAD)
    sheet.label(Content(SPACE.join("─" * width for width in widths)).stylize(palette.LINE))
    for row in block.rows:
        _row(sheet, row, widths, block.aligns, "")


def shares(natural: list[int], room: int) -> list[int]:
    """Columns narrower than an equal share keep their width; the others share what these leave."""
    widths = list(natural)
    wide = set(range(len(natural)))
    while sum(natural) > room and wide:
        left = room - sum(natural[column] for column in range(len(natural)) if column not in wide)
        share, extra = divmod(max(0, left), len(wide))
        narrow = {column for column in wide if natural[column] <= share}
        if not narrow:
            for index, column in enumerate(sorted(wide)):
                widths[column] = share + (index < extra)
            break
        wide -= narrow
    return widths


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
