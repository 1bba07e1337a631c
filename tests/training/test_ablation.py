"""The arithmetic of the ablation table and its bars. Measuring needs minutes and is a command of its own."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from training.ablation.measure import HELD_OUT, Outcome, Row, held_out
from training.ablation.table import ROWS, bars, layers, table
from training.corpus.expand import normalise
from training.corpus.load import questions


def row(key: str, perplexity: float, agreement: float = 0.5) -> Row:
    one = Outcome(-10 * math.log(perplexity), 10, True, 80, 5, {"2": 4 * agreement, "3": 4.0}, {"2": 4, "3": 4})
    return Row(key, (one, replace(one, right=False)))


def test_perplexity_agreement_and_experts_are_means_over_ids_and_tokens() -> None:
    one, two = (
        Outcome(-6.0, 3, True, 16, 2, {"2": 1.0}, {"2": 2}),
        Outcome(0.0, 1, False, 48, 2, {"2": 2.0}, {"2": 2}),
    )
    found = Row("shipped", (one, two))
    assert found.perplexity == pytest.approx(math.exp(6 / 4))
    assert (found.right, found.experts, found.by_layer) == (1, 16, {2: 0.75})
    assert Row.from_json(found.to_json()) == found


@pytest.mark.parametrize(
    ("shipped", "merged", "agreement", "holds"),
    [
        (1.2, 1.7, 0.5, [True, True, True, True]),
        (1.5, 1.9, 0.5, [False, True, True, True]),
        (1.2, 1.3, 0.1, [True, False, False, False]),
    ],
)
def test_bars(shipped: float, merged: float, agreement: float, holds: list[bool]) -> None:
    figures = {"teacher": 1.0, "predicted": 2.0, "shipped": shipped, "merged": merged}
    rows = {key: row(key, value, agreement) for key, value in figures.items()}
    assert [bar.holds for bar in bars(rows, 2 / 32)] == holds


def test_tables_hold_what_was_measured() -> None:
    rows = {key: row(key, 1.5) for key in ("half", "shipped")}
    assert [line.split("|")[1].strip() for line in table(rows).splitlines()[2:]] == [ROWS["half"], ROWS["shipped"]]
    assert "1 of 2 (50.0%) | 75.0% | 16 |" in table(rows)
    assert layers(rows, 0.0625).splitlines()[2:] == ["| 2 | 50.0% | 6.2% |", "| 3 | 100.0% | 6.2% |"]


def test_what_is_asked_was_never_trained_on() -> None:
    asked = held_out()
    trained = {normalise(text) for q in questions() for text in q.train}
    assert {case.set for case in asked} == set(HELD_OUT)
    assert not trained & {normalise(case.ask) for case in asked}
    assert len(held_out(4)) == -(-len(asked) // 4)
