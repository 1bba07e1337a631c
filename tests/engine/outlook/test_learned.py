"""Expected against achieved: bounded, forgetful, harmless when its file is damaged."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.outlook.learned import BOUND, FILE, combined, learn, learned, learning_key
from engine.outlook.outlook import outlook
from engine.outlook.types import Outlook
from engine.plan import GiB
from tests.engine.outlook.examples import FACTS_35B, machine


def likely(out: Outlook) -> float:
    assert out.speed is not None
    return out.speed.decode.likely


def test_the_next_estimate_is_what_was_achieved(tmp_path: Path) -> None:
    plain = outlook(FACTS_35B, machine())
    key = learning_key(plain)
    assert learned(tmp_path, key) is None
    achieved = 1.4 * likely(plain)
    for replies in range(1, 6):
        found = learned(tmp_path, key)
        shown = outlook(FACTS_35B, machine(), learned=found)
        known = learn(tmp_path, shown, achieved, tokens=100)
        assert known is not None and known.replies == replies
        assert known.expected == pytest.approx(likely(plain))  # never the corrected one
        assert likely(outlook(FACTS_35B, machine(), learned=learned(tmp_path, key))) == pytest.approx(achieved)


def test_what_it_holds_for() -> None:
    plain = outlook(FACTS_35B, machine())
    others = [
        outlook(FACTS_35B, machine(), routing="exact"),
        outlook(FACTS_35B, machine(), budget=6 * GiB),
        outlook(replace(FACTS_35B, shape="other"), machine()),
    ]
    assert learning_key(plain) not in {learning_key(other) for other in others}
    assert learning_key(plain) == learning_key(outlook(FACTS_35B, machine(), budget=plain.budget + 1000))


@given(st.lists(st.floats(1e-6, 1e6), min_size=1, max_size=30))
def test_it_is_bounded_and_follows(ratios: list[float]) -> None:
    known = None
    for ratio in ratios:
        known = combined(known, 1.0, ratio)
        assert 1 / BOUND <= known.factor <= BOUND
    for _ in range(30):
        known = combined(known, 1.0, 2.0)
    assert known is not None and known.factor == pytest.approx(2.0, rel=0.01)


@pytest.mark.parametrize(("achieved", "tokens"), [(1.0, 15), (0.0, 100), (float("nan"), 100)])
def test_replies_that_say_nothing(achieved: float, tokens: int, tmp_path: Path) -> None:
    assert learn(tmp_path, outlook(FACTS_35B, machine()), achieved, tokens) is None
    assert learn(tmp_path, outlook(FACTS_35B, machine(disk=None)), 1.0, 100) is None
    assert not (tmp_path / FILE).exists()


@pytest.mark.parametrize("factor", [0, -1, "2", None, 1e999, True])
def test_damaged_entries_are_passed_over(factor: object, tmp_path: Path) -> None:
    plain = outlook(FACTS_35B, machine())
    learn(tmp_path, plain, 1.0, 100)
    table = json.loads((tmp_path / FILE).read_text())
    for entries in table.values():
        entries[learning_key(plain)]["factor"] = factor
    (tmp_path / FILE).write_text(json.dumps(table))
    assert learned(tmp_path, learning_key(plain)) is None
    (tmp_path / FILE).write_text("[" * 100_000)
    assert learned(tmp_path, learning_key(plain)) is None
    assert learn(tmp_path, plain, 1.0, 100) is not None
    assert learned(tmp_path, learning_key(plain)) is not None
