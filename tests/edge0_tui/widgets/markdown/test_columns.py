"""Whatever is in a text, every painted row has exactly the width of its widget."""

from __future__ import annotations

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from textual.style import Style

from edge0_tui.widgets.markdown.blocks import Block, Plain
from edge0_tui.widgets.markdown.entry import Entry
from edge0_tui.widgets.markdown.section import Growing
from edge0_tui.widgets.markdown.stream import parse
from tests.edge0_tui.widgets.markdown.test_stream import documents

relaxed = settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
CLUSTERS = [
    *["👍🏽", "👩‍👩‍👧‍👦", "🇩🇪", "☑️", "❤️", "1️⃣", "🏴‍☠️"],
    *["漢字", "ｗｉｄｅ", "한국어", "ไทย", "नमस्ते", "عربى", "עברית"],
    *["é", "a\u0301\u0323", "z\u200d", "\u200b", "\u00ad", "\ufeff", "\u0300"],
    *[" ", "word", "`x`", "**b**", "| a |", "\t"],
]
mixed = st.lists(st.sampled_from(CLUSTERS), max_size=30).map("".join)
FORMS = ["{}", "# {}", "- {}", "1. {}", "> {}", "```py\n{}\n```", "- [x] {}", "| a | b |\n|---|--:|\n| {} | {} |"]


def plain(style: str | Style) -> Style:
    return style if isinstance(style, Style) else Style()


def check(blocks: list[Block], width: int) -> None:
    for block in blocks:
        entry = Entry(block, 0)
        for row in range(entry.lay(width)):
            strip = entry.strip(row, 0, Style(), plain, None)
            assert strip.cell_length == width
            assert sum(cell_len(segment.text) for segment in strip) == width


@relaxed
@given(mixed, st.sampled_from(FORMS), st.integers(8, 60))
@example("z\u200d`x`", "{}", 8)
def test_emoji_cjk_right_to_left_and_combining_characters(text: str, form: str, width: int) -> None:
    check(parse(form.replace("{}", text)), width)


@relaxed
@given(st.one_of(mixed, st.text(max_size=40)), st.integers(4, 40))
def test_what_a_person_typed(text: str, width: int) -> None:
    check([Plain(text)], width)


@relaxed
@given(documents, st.integers(8, 60))
def test_any_document_and_any_growth(text: str, width: int) -> None:
    growing = Growing()
    for start in range(0, len(text), 7):
        growing.append(text[start : start + 7])
        for entry in growing.entries:
            entry.lay(width)
    growing.append("", final=True)
    check([entry.block for entry in growing.entries], width)
