"""Pieces both model families are made of."""

from __future__ import annotations

from dataclasses import dataclass

import mlx.core as mx

from engine.models.linear import Linear

GUARD_LIMIT = 1000.0
"""Part of the release: the hidden state is cleaned after every layer, NaN to 0 and then to ±1000."""


def rms_norm(x: mx.array, weight: mx.array, eps: float) -> mx.array:
    """x / sqrt(mean(x²) + eps) · weight over the last axis, float32 inside."""
    return mx.fast.rms_norm(x, weight, eps)


def l2_normalise(x: mx.array, eps: float = 1e-6) -> mx.array:
    """x / sqrt(Σ x² + eps) over the last axis, in float32."""
    x = x.astype(mx.float32)
    return x * mx.rsqrt(mx.sum(x * x, axis=-1, keepdims=True) + eps)


def silu(x: mx.array) -> mx.array:
    return x * mx.sigmoid(x)


def guard(x: mx.array) -> mx.array:
    """NaN → 0, then clamp to ±GUARD_LIMIT, so that one overflow cannot poison a whole conversation."""
    return mx.clip(mx.where(x != x, mx.zeros_like(x), x), -GUARD_LIMIT, GUARD_LIMIT)


def last_rows(x: mx.array, count: int) -> mx.array:
    """x[-count:] in memory of its own: a slice would keep all of x alive, in a state for a whole reply."""
    length = x.shape[0]
    return mx.take(x, mx.arange(length - count, length), axis=0)


def causal_conv(x: mx.array, weight: mx.array, history: mx.array) -> tuple[mx.array, mx.array]:
    """Depthwise causal convolution without bias.

    x [T, C], weight [C, taps] (tap j meets x[t − taps + 1 + j]), history [taps − 1, C] → (y [T, C], new history).
    """
    taps = weight.shape[1]
    rows = mx.concatenate([history, x], axis=0)
    length = x.shape[0]
    y = rows[0:length] * weight[:, 0]
    for tap in range(1, taps):
        y = y + rows[tap : tap + length] * weight[:, tap]
    return y, last_rows(rows, taps - 1)


@dataclass(frozen=True)
class GatedMlp:
    """down(silu(gate x) · up x)."""

    gate: Linear
    up: Linear
    down: Linear

    def __call__(self, x: mx.array) -> mx.array:
        return self.down(silu(self.gate(x)) * self.up(x))
