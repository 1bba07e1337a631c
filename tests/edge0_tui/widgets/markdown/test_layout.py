"""How blocks fill rows: tables, code, lists, at every width."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from edge0_tui.widgets.markdown.blocks import Plain
from edge0_tui.widgets.markdown.layout import lay, lay_all
from edge0_tui.widgets.markdown.sheet import Sheet
from edge0_tui.widgets.markdown.stream import parse
from edge0_tui.widgets.markdown.table import shares
from tests.edge0_tui.widgets.markdown.test_stream import documents

relaxed = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def sheet(text: str, width: int) -> Sheet:
    result = Sheet(width)
    lay_all(result, tuple(parse(text)))
    return result


def shown(text: str, width: int) -> list[str]:
    return [(row.prefix.plain + row.margin + row.content.plain).rstrip() for row in sheet(text, width).rows]


@relaxed
@given(documents, st.integers(2, 60))
def test_no_row_is_wider_than_the_screen(text: str, width: int) -> None:
    for row in sheet(text, width).rows:
        if row.margin and width < 6:
            continue
        assert row.prefix.cell_length + len(row.margin) + row.content.cell_length <= width


@relaxed
@given(documents, st.integers(2, 60))
def test_every_row_is_a_piece_of_its_line(text: str, width: int) -> None:
    result = sheet(text, width)
    for row in result.rows:
        content = row.late() if row.late else row.content
        if row.line < len(result.lines) and row.start:
            assert result.lines[row.line][row.start :].startswith(content.plain)


@relaxed
@given(st.text(max_size=60), st.integers(2, 30))
def test_what_a_user_typed_is_all_there(text: str, width: int) -> None:
    result = Sheet(width)
    lay(result, Plain(text))
    visible = "".join(row.content.plain for row in result.rows)
    kept = [character for character in text if character.isalnum()]
    assert [character for character in visible if character.isalnum()] == kept


def test_lists_hang_and_count() -> None:
    assert shown("- one two three\n  1. a\n  2. b\n", 10) == ["• one two", "  three", "  1. a", "  2. b"]


def test_gaps_follow_the_source() -> None:
    assert shown("- a\n- b\n\n- c\n\ntext\n# H\nmore", 20) == ["• a", "• b", "", "• c", "", "text", "", "H", "more"]


def test_a_table_keeps_its_columns_while_words_fit() -> None:
    table = "| name | n |\n|---|--:|\n| a long name here | 1 |\n| b | 22 |\n"
    assert shown(table, 30) == [
        "name               n",
        "────────────────  ──",
        "a long name here   1",
        "b                 22",
    ]
    assert shown(table, 12) == ["name       n", "────────  ──", "a long     1", "name", "here", "b         22"]


def test_a_table_without_room_becomes_records() -> None:
    table = "| quantity | number |\n|---|---|\n| peak | 1 |\n| cache | 2 |\n"
    assert shown(table, 12) == ["quantity:", "peak", "number: 1", "", "quantity:", "cache", "number: 2"]


def test_code_folds_and_copies_as_it_is() -> None:
    result = sheet("```py\nabcdefghij\n  x\n```", 9)
    assert shown("```py\nabcdefghij\n  x\n```", 9) == ["  py", "  abcde", "  fghij", "    x"]
    assert result.codes == ["abcdefghij\n  x"]
    assert result.lines == ["abcdefghij", "  x"]


def test_wide_characters_keep_to_their_columns() -> None:
    for row in sheet("漢字" * 10 + " 👍🏽 é\n\n```\n" + "漢" * 9 + "\n```", 9).rows:
        assert row.content.cell_length + len(row.margin) <= 9


@given(st.lists(st.tuples(st.integers(1, 80), st.integers(1, 20)), min_size=1, max_size=6), st.integers(1, 120))
def test_shares_use_the_room_and_respect_the_least(columns: list[tuple[int, int]], room: int) -> None:
    natural = [max(pair) for pair in columns]
    least = [min(pair) for pair in columns]
    widths = shares(natural, least, room)
    if widths is None:
        assert sum(least) > room
        return
    assert sum(widths) == min(room, sum(natural))
    assert all(low <= width <= high for low, width, high in zip(least, widths, natural, strict=True))


@pytest.mark.parametrize("text", ["- " * 300 + "x", "> " * 300 + "x", "*" * 2000, "[" * 2000, "`" * 999])
def test_extreme_nesting_is_survived(text: str) -> None:
    assert "".join(shown(text, 20)).strip("• >▎")
