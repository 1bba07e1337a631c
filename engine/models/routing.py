"""Choosing experts from scores: pure functions on the host, ties broken by the lower index."""

from __future__ import annotations

from collections.abc import Callable
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


Select = Callable[[Floats], Route]
"""Logits [T, E] → what they choose."""


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


@dataclass(frozen=True)
class GroupLimits:
    """Experts lie in `groups` equal groups in order; a token chooses inside its `keep` best groups only.

    A group counts as much as its `counted` best scores together.
    """

    groups: int
    keep: int
    counted: int = 2


def group_limited_top_k(
    logits: Floats, k: int, limits: GroupLimits, scaling: float, epsilon: float, bias: Floats | None = None
) -> Route:
    """Sigmoid scores, the k best inside the best groups, weights s / (Σ s + epsilon) · scaling.

    `bias` [E] helps to choose (groups as well as experts) but is no part of the weights. After DeepSeek-V3's
    "noaux_tc"; at every stage equal scores keep the lower index.
    """
    scores = sigmoid(logits)
    choice = scores if bias is None else scores + bias
    grouped = choice.reshape(len(choice), limits.groups, -1)
    value = np.sort(grouped, axis=-1)[..., -limits.counted :].sum(axis=-1)
    outside = np.ones(value.shape, dtype=np.bool_)
    np.put_along_axis(outside, top_k(value, limits.keep).astype(np.int64), False, axis=-1)
    experts = top_k(np.where(outside[..., None], -np.inf, grouped).reshape(choice.shape), k)
    weights = np.take_along_axis(scores, experts, axis=-1)
    weights = weights / (weights.sum(axis=-1, keepdims=True) + np.float32(epsilon)) * np.float32(scaling)
    return Route(experts, weights.astype(np.float32))


def sigmoid(logits: Floats) -> Floats:
    """In float32, without overflow at either end."""
    small = np.exp(-np.abs(logits))
    return np.asarray(np.where(logits >= 0, 1, small) / (1 + small), dtype=np.float32)


def one_hot_set(experts: Indices, count: int) -> Floats:
    """experts [..., K] → [..., count] with exactly K ones."""
    out = np.zeros((*experts.shape[:-1], count), dtype=np.float32)
    np.put_along_axis(out, experts.astype(np.int64), 1.0, axis=-1)
    return out


def agreement(used: Indices, true: Indices) -> float:
    """Mean share of the true router's experts that were used. Both [T, K]."""
    shared = (used[:, :, None] == true[:, None, :]).any(axis=1).sum()
    return float(shared) / true.size
