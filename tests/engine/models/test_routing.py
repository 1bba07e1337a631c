"""Selection rules against plain statements of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.models.routing import (
    GroupLimits,
    agreement,
    group_limited_top_k,
    one_hot_set,
    sigmoid,
    softmax_top_k,
    top_k,
)
from tests.engine.fidelity.oracle_8b import select


def test_equal_scores_keep_the_lower_index() -> None:
    scores = np.array([[1.0, 2.0, 2.0, 0.0, 2.0]], dtype=np.float32)
    assert top_k(scores, 2).tolist() == [[1, 2]]


def test_weights_are_the_softmax_of_the_chosen() -> None:
    logits = np.random.default_rng(0).normal(size=(5, 16)).astype(np.float32)
    route = softmax_top_k(logits, 4)
    for row in range(5):
        best = sorted(range(16), key=lambda e: -logits[row, e])[:4]
        assert route.experts[row].tolist() == best
        exact = np.exp(logits[row, best].astype(np.float64))
        assert np.allclose(route.weights[row], exact / exact.sum(), rtol=1e-5)
    whole = np.exp(logits.astype(np.float64))
    share = np.take_along_axis(whole / whole.sum(-1, keepdims=True), route.experts.astype(np.int64), -1)
    assert np.allclose(softmax_top_k(logits, 4, normalise=False).weights, share, rtol=1e-5)


def test_one_hot_sets_have_exactly_k_ones() -> None:
    hot = one_hot_set(np.array([[3, 0], [2, 1]], dtype=np.int32), 5)
    assert hot.tolist() == [[1, 0, 0, 1, 0], [0, 1, 1, 0, 0]]


def test_agreement_is_the_shared_part_of_the_true_set() -> None:
    used = np.array([[1, 2, 3, 4]], dtype=np.int32)
    assert agreement(used, np.array([[4, 3, 9, 8]], dtype=np.int32)) == 0.5
    assert agreement(used, used[:, ::-1]) == 1.0


def test_sigmoid_at_both_ends() -> None:
    values = sigmoid(np.array([-1e4, -2.0, 0.0, 2.0, 1e4], dtype=np.float32))
    assert np.allclose(values, [0, 0.11920292, 0.5, 0.88079708, 1], rtol=1e-6) and values.dtype == np.float32


# Scores of 0, ½ and 1 and biases in quarters: experts and whole groups tie all the time, and exactly.
coarse_logits = st.lists(st.sampled_from([-80.0, 0.0, 40.0]), min_size=16, max_size=16)
coarse_bias = st.lists(st.sampled_from([-0.5, -0.25, 0.0, 0.25, 0.5]), min_size=16, max_size=16)


@given(coarse_logits, st.none() | coarse_bias)
def test_group_limited_selection_is_the_plain_rendering_ties_included(
    logits: list[float], bias: list[float] | None
) -> None:
    row = np.array([logits], dtype=np.float32)
    added = None if bias is None else np.array(bias, dtype=np.float32)
    route = group_limited_top_k(row, 4, GroupLimits(4, 2), 2.5, 1e-20, added)
    experts, weights = select(row[0], 4, 4, 2, 2.5, added)
    assert route.experts[0].tolist() == experts
    assert np.allclose(route.weights[0], weights, rtol=1e-5)


def test_the_bias_chooses_but_does_not_weigh() -> None:
    logits = np.zeros((1, 8), dtype=np.float32)
    bias = np.array([0, 0, 0, 0, 0, 0, 5, 9], dtype=np.float32)
    route = group_limited_top_k(logits, 2, GroupLimits(4, 1), 2.5, 1e-20, bias)
    assert route.experts.tolist() == [[7, 6]]
    assert np.allclose(route.weights, [[1.25, 1.25]])
    assert group_limited_top_k(logits, 2, GroupLimits(4, 1), 2.5, 1e-20).experts.tolist() == [[0, 1]]


def test_the_best_expert_is_out_when_its_group_is() -> None:
    logits = np.array([[3.0, -9.0, 1.0, 1.0]], dtype=np.float32)
    route = group_limited_top_k(logits, 2, GroupLimits(2, 1), 1.0, 1e-20)
    assert route.experts.tolist() == [[2, 3]]


@pytest.mark.parametrize("tokens", [1, 3])
def test_rows_do_not_meet(tokens: int) -> None:
    logits = np.random.default_rng(3).normal(size=(tokens, 16)).astype(np.float32)
    whole = group_limited_top_k(logits, 4, GroupLimits(4, 2), 2.5, 1e-20)
    for row in range(tokens):
        alone = group_limited_top_k(logits[row : row + 1], 4, GroupLimits(4, 2), 2.5, 1e-20)
        assert np.array_equal(alone.experts[0], whole.experts[row])
        assert np.array_equal(alone.weights[0], whole.weights[row])
