from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edge0_tui.chat.fold import fold, fold_with_places
from edge0_tui.chat.query import Query, snippet, spans
from tests.edge0_tui.chat.trees import relaxed, texts


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("STRASSE", "straße"),
        ("resume", "Résumé"),
        ("resume", "Re\u0301sume\u0301"),
        ("fin", "ﬁn"),
        ("οσ", "ΟΣ"),
        ("שלום", "שָׁלוֹם"),
        ("ёлка", "ЁЛКА"),
    ],
)
def test_case_and_accents_do_not_matter(one: str, other: str) -> None:
    assert fold(one) == fold(other)


@relaxed
@given(texts)
def test_folding_keeps_the_lines_and_knows_the_places(text: str) -> None:
    folded, places = fold_with_places(text)
    assert fold(text).count("\n") == text.count("\n")
    assert len(places) == len(folded) + 1
    assert places == sorted(places) and places[-1] == len(text)


def test_a_query_is_words_and_quoted_phrases() -> None:
    assert Query.parse('  Größe "allocator  peak" größe ""').words == ("grosse", "allocator  peak")
    assert Query.parse('"not closed').words == ("not closed",)
    assert Query.parse(" ").words == ()


def test_a_query_typed_on_narrows() -> None:
    assert Query.parse("expert al").narrows(Query.parse("exp"))
    assert not Query.parse("exp").narrows(Query.parse("expert"))


def test_what_was_found_is_marked_in_the_original() -> None:
    text = "Die Größe der STRAßE, Re\u0301sume\u0301"
    assert [text[a:b] for a, b in spans(text, ("grosse", "strasse", "resume"))] == [
        "Größe",
        "STRAßE",
        "Re\u0301sume\u0301",
    ]
    assert spans("aaa", ("aa", "a")) == ((0, 3),)


def test_the_snippet_is_the_line_with_most_words_cut_around_them() -> None:
    text = "one expert\n" + "x " * 300 + "an Expert and\tits slôt " + "y " * 300
    found = snippet(text, fold(text), ("expert", "slot"), 80)
    assert [found.text[a:b] for a, b in found.spans] == ["Expert", "slôt"]
    assert found.text.startswith("…") and found.text.endswith("…") and len(found.text) <= 82
    assert "\t" not in found.text


@relaxed
@given(texts, st.integers(20, 200))
def test_snippets_hold_no_control_characters_and_spans_stay_inside(text: str, width: int) -> None:
    words = tuple(fold(text).split()[-1:])
    if words:
        found = snippet(text, fold(text), words, width)
        assert not any(ord(c) < 32 or 127 <= ord(c) < 160 or 0x202A <= ord(c) <= 0x202E for c in found.text)
        assert all(0 <= a < b <= len(found.text) for a, b in found.spans)


def test_a_line_without_end_costs_a_piece_of_it() -> None:
    text = "é" * 30_000 + " needle " + "ß" * 50_000
    found = snippet(text, fold(text), ("needle",), 100)
    assert [found.text[a:b] for a, b in found.spans] == ["needle"]
