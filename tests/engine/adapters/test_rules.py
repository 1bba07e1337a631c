"""Each tier's prerouter rules, at the sizes of its release."""

from __future__ import annotations

from itertools import pairwise

import mlx.core as mx
import numpy as np
import pytest

from engine.adapters.prerouter import Heads, Prerouter
from engine.adapters.rules import Rules, rules_of
from engine.adapters.watch import PromptWatch
from engine.checkpoint.synthetic import REAL_8B, REAL_35B
from engine.kernels import get_kernels
from engine.models.routing import Route
from tests.engine.fidelity.oracle_8b import select

OURS_35B, OURS_8B = rules_of(REAL_35B, 4), rules_of(REAL_8B, 8)


@pytest.mark.parametrize(
    ("length", "seen_35b", "seen_8b"),
    [
        (1, [0], [0]),
        (2, [], [0, 1]),
        (27, [], [25, 26]),
        (2048, [], [2046, 2047]),
        (2049, [2048], [2048]),
        (2050, [], [2048, 2049]),
        (4097, [4096], [4096]),
    ],
)
def test_what_the_heads_see_of_a_prompt(length: int, seen_35b: list[int], seen_8b: list[int]) -> None:
    assert list(OURS_35B.seen_of_prompt(length)) == seen_35b
    assert list(OURS_8B.seen_of_prompt(length)) == seen_8b


def test_whose_choice_one_hot_sets_show() -> None:
    assert (OURS_35B.teacher, OURS_8B.teacher) == (False, True)


def test_predicted_selection_of_the_8b_has_groups_and_no_bias() -> None:
    logits = np.random.default_rng(0).normal(size=(16, 128)).astype(np.float32)
    route = OURS_8B.select(logits)
    for row in range(16):
        experts, weights = select(logits[row], k=8, groups=8, keep=4, scaling=2.5)
        assert route.experts[row].tolist() == experts
        assert np.allclose(route.weights[row], weights, rtol=1e-5)
    assert np.allclose(route.weights.sum(-1), 2.5, rtol=1e-5)


def test_consumers_of_the_releases() -> None:
    assert REAL_35B.consumers(range(6, 39)) == tuple(range(7, 39))
    assert REAL_8B.consumers(range(7, 23)) == tuple(range(8, 24))


class Recorder(Prerouter):
    """Keeps what it is shown instead of computing."""

    def __init__(self, rules: Rules) -> None:
        empty = mx.zeros((1, 1, 1))
        super().__init__(Heads(get_kernels(), (7,), 1, empty, empty, empty), frozenset({8}), rules)
        self.shown: list[tuple[str, float, list[int]]] = []

    def remember(self, used):  # type: ignore[no-untyped-def]
        self.shown.append(("before", -1.0, used[7][0].tolist()))

    def observe(self, moe_inputs, used):  # type: ignore[no-untyped-def]
        self.shown.append(("now", float(moe_inputs[7]), used[7][0].tolist()))
        return {}


@pytest.mark.parametrize("cuts", [[0, 6], [0, 5, 6], [0, 4, 6], [0, 1, 2, 3, 4, 5, 6], [3, 5, 6]])
def test_the_end_of_a_prompt_reaches_the_heads_whatever_the_chunks(cuts: list[int]) -> None:
    watch, seen = PromptWatch(frozenset({7}), OURS_8B.seen_of_prompt(6)), Recorder(OURS_8B)
    for start, end in pairwise(cuts):
        step = watch.step(start, end)
        for layer in step.capture:
            step.moe_inputs[layer] = mx.array(float(end - 1))
            rows = np.arange(start, end, dtype=np.int32)[:, None]
            step.routes[layer] = Route(rows, rows.astype(np.float32))
    watch.show(seen)
    assert seen.shown == [("before", -1.0, [4]), ("now", 5.0, [5])]
