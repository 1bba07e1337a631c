"""What grows keeps its painted rows, and only those that are still right."""

from __future__ import annotations

import pytest
from textual.strip import Strip
from textual.style import Style

from edge0_tui.widgets.markdown import entry as module
from edge0_tui.widgets.markdown.entry import Entry
from edge0_tui.widgets.markdown.paint import paint
from edge0_tui.widgets.markdown.stream import MarkdownStream

TABLE = "| name | n |\n|---|--:|\n| a long name | 1 |\n"
CODE = "```py\na = 1\nb = 2\n"


def shown(text: str, width: int = 40) -> tuple[Entry, int]:
    """The only block of a text that may go on, laid out, and how many rows it takes."""
    stream = MarkdownStream()
    stream.append(text)
    (block,) = stream.blocks
    entry = Entry(block, 0)
    return entry, entry.lay(width)


def painted(entry: Entry, rows: int) -> list[Strip]:
    return [entry.strip(row, 0, Style(), lambda style: Style(), None) for row in range(rows)]


@pytest.mark.parametrize(
    ("before", "after", "kept"),
    [
        (TABLE, TABLE + "| b | 2 |\n", 3),
        (TABLE, TABLE + "| a much longer name | 2 |\n", 0),
        (TABLE, TABLE.replace("| 1 |", "| **1** |"), 2),
        (CODE, CODE + "c = 3\n", 3),
        (CODE, CODE + "```\n", 1),
    ],
)
def test_rows_stay_as_painted_while_they_are_the_same(
    before: str, after: str, kept: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, height = shown(before)
    strips = painted(old, height)
    new, rows = shown(after)
    assert new.adopt(old) == kept
    count = 0

    def counted(*given: object) -> Strip:
        nonlocal count
        count += 1
        return paint(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(module, "paint", counted)
    grown = painted(new, rows)
    assert count == rows - kept
    assert all(one is other for one, other in zip(grown[:kept], strips, strict=False))
    fresh, _ = shown(after)
    assert [strip.text for strip in grown] == [strip.text for strip in painted(fresh, rows)]


def test_another_width_keeps_nothing() -> None:
    old, _ = shown(TABLE, 40)
    new, _ = shown(TABLE + "| b | 2 |\n", 30)
    assert new.adopt(old) == 0
