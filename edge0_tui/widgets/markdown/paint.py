"""A row becomes a strip: styles resolved against the theme, every character knowing its place in the text."""

from __future__ import annotations

from collections.abc import Callable

from rich.segment import Segment
from textual.content import Content
from textual.strip import Strip
from textual.style import Style

from edge0_tui.widgets.markdown.sheet import Row

GetStyle = Callable[[str | Style], Style]


def paint(
    row: Row,
    line: int,
    width: int,
    base: Style,
    get_style: GetStyle,
    selected: tuple[int, int, Style] | None = None,
) -> Strip:
    """`line` is the row's line counted in the whole widget; `selected` a range of characters of that line."""
    content = row.late() if row.late else row.content
    if selected:
        start, end, style = selected
        end = len(content) if end == -1 else max(0, end - row.start)
        content = content.stylize(style, max(0, start - row.start), end)
    segments = _segments(row.prefix, base, get_style, row.start, line, still=True)
    ground = base + get_style(row.fill) if row.fill else base
    segments += _segments(Content(row.margin), ground, get_style, row.start, line, still=True)
    segments += _segments(content, ground, get_style, row.start, line)
    # As the segments are counted: a joiner between two of them joins nothing, in one text it takes a cell away.
    used = sum(segment.cell_length for segment in segments)
    if used < width:
        end_style = ground.rich_style_with_offset(row.start + len(content), line)
        segments.append(Segment(" " * (width - used), end_style))
    strip = Strip(segments, max(used, width))
    return strip if used <= width else strip.crop(0, width)


def _segments(
    content: Content, base: Style, get_style: GetStyle, x: int, line: int, still: bool = False
) -> list[Segment]:
    """`still`: decoration, all of it at one place of the text."""
    result: list[Segment] = []
    if not content:
        return result
    for text, style in content.render(base, end="", parse_style=get_style):
        result.append(Segment(text, (base + style).rich_style_with_offset(x, line)))
        if not still:
            x += len(text)
    return result
