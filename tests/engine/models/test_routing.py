"""Selection rules against plain statements of them."""

from __future__ import annotations

import numpy as np

from engine.models.routing import agreement, one_hot_set, softmax_top_k, top_k


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
