"""Choosing experts from scores: pure functions on the host, ties broken by the lower index."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Indices = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Route:
    """experts [T, K] best first, weights [T, K]."""

    experts: Indices
    weights: Floats


def top_k(scores: Floats, k: int) -> Indices:
    """scores [T, E] → the k best indices per row, best first; equal scores keep the lower index first."""
    return np.argsort(-scores, axis=-1, kind="stable")[:, :k].astype(np.int32)


def softmax(logits: Floats) -> Floats:
    """Over the last axis, in float32."""
    shifted = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return np.asarray(shifted / shifted.sum(axis=-1, keepdims=True), dtype=np.float32)


def softmax_top_k(logits: Floats, k: int, normalise: bool = True) -> Route:
    """Softmax over all experts, the k best, renormalised to sum 1 (Qwen3 MoE's router, norm_topk_prob)."""
    scores = softmax(logits)
    experts = top_k(scores, k)
    weights = np.take_along_axis(scores, experts, axis=-1)
    if normalise:
        weights = weights / weights.sum(axis=-1, keepdims=True)
    return Route(experts, weights.astype(np.float32))


def one_hot_set(experts: Indices, count: int) -> Floats:
    """experts [..., K] → [..., count] with exactly K ones."""
    out = np.zeros((*experts.shape[:-1], count), dtype=np.float32)
    np.put_along_axis(out, experts.astype(np.int64), 1.0, axis=-1)
    return out


def agreement(used: Indices, true: Indices) -> float:
    """Mean share of the true router's experts that were used. Both [T, K]."""
    shared = (used[:, :, None] == true[:, None, :]).any(axis=1).sum()
    return float(shared) / true.size
