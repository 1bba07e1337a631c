"""The delta-rule core both families share: a short causal convolution, normalised heads, the recurrence."""

from __future__ import annotations

from dataclasses import dataclass

import mlx.core as mx

from engine.kernels.interface import Kernels
from engine.models.blocks import causal_conv, l2_normalise, silu
from engine.models.cache import Recurrent


@dataclass(frozen=True)
class DeltaRule:
    """What happens between a layer's projections and its output gate.

    conv [C, taps] over the C = 2 · Hk · Dk + Hv · Dv channels of q, k, v, in that order.
    """

    kernels: Kernels
    key_heads: int
    value_heads: int
    key_dim: int
    value_dim: int
    conv: mx.array

    def fresh_state(self) -> Recurrent:
        channels, taps = self.conv.shape
        history = mx.zeros((taps - 1, channels), dtype=self.kernels.activation_dtype)
        return Recurrent((history,), mx.zeros((self.value_heads, self.value_dim, self.key_dim)))

    def __call__(self, qkv: mx.array, decay: mx.array, beta: mx.array, state: Recurrent) -> mx.array:
        """qkv [T, C], decay [T, Hv] or per key channel [T, Hv, Dk], beta [T, Hv], both in float32
        → [T, Hv, Dv] in float32; `state` moves on by T tokens."""
        tokens = qkv.shape[0]
        mixed, history = causal_conv(qkv, self.conv, state.history[0])
        keys = self.key_heads * self.key_dim
        q, k, v = mx.split(silu(mixed), [keys, 2 * keys], axis=-1)
        q = l2_normalise(q.reshape(tokens, self.key_heads, self.key_dim)) * self.key_dim**-0.5
        k = l2_normalise(k.reshape(tokens, self.key_heads, self.key_dim))
        v = v.reshape(tokens, self.value_heads, self.value_dim).astype(mx.float32)
        o, new = self.kernels.gated_delta(q, k, v, decay, beta, state.state)
        state.history, state.state = (history,), new
        return o
