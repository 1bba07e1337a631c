"""Qwen3.5-MoE: gated delta net in three layers of four, gated attention in the fourth, experts in every one.

The published 35B and the built-in nano are of this family. Maths after the model's description in the
Qwen3-Next / Qwen3.5 releases and "Gated Delta Networks" (Yang et al., 2024).
"""

from __future__ import annotations

from dataclasses import dataclass

import mlx.core as mx

from engine.kernels.interface import Kernels
from engine.models.attention import causal_attention
from engine.models.blocks import rms_norm, silu
from engine.models.cache import Recurrent, TokenCache
from engine.models.delta import DeltaRule
from engine.models.linear import Linear


@dataclass(frozen=True)
class GatedDeltaNet:
    """Linear attention with a decaying, delta-rule updated state; one decay per value head.

    a_log, dt_bias [Hv] and norm [Dv] in float32.
    """

    rule: DeltaRule
    eps: float
    qkv: Linear
    z: Linear
    a: Linear
    b: Linear
    out: Linear
    a_log: mx.array
    dt_bias: mx.array
    norm: mx.array

    def fresh_state(self) -> Recurrent:
        return self.rule.fresh_state()

    def __call__(self, x: mx.array, state: Recurrent) -> mx.array:
        """x [T, hidden] → [T, hidden]; `state` moves on by T tokens."""
        step_size = mx.logaddexp(self.a(x).astype(mx.float32) + self.dt_bias, mx.array(0.0))  # softplus
        decay = mx.exp(-mx.exp(self.a_log) * step_size)
        beta = mx.sigmoid(self.b(x).astype(mx.float32))
        o = self.rule(self.qkv(x), decay, beta, state)
        z = self.z(x).reshape(o.shape).astype(mx.float32)
        y = rms_norm(o, self.norm, self.eps) * silu(z)
        return self.out(y.reshape(x.shape[0], -1).astype(x.dtype))


@dataclass(frozen=True)
class GatedAttention:
    """Grouped-query attention with normed heads, partial rotary positions and a sigmoid output gate."""

    kernels: Kernels
    heads: int
    kv_heads: int
    head_dim: int
    rotary_dim: int
    rope_theta: float
    eps: float
    q: Linear
    k: Linear
    v: Linear
    out: Linear
    q_norm: mx.array
    k_norm: mx.array

    def fresh_state(self) -> TokenCache:
        return TokenCache(self.kv_heads, (self.head_dim, self.head_dim), self.kernels.activation_dtype)

    def __call__(self, x: mx.array, cache: TokenCache) -> mx.array:
        """x [T, hidden] → [T, hidden]; the cache grows by T rows."""
        tokens = x.shape[0]
        q, gate = mx.split(self.q(x).reshape(tokens, self.heads, 2 * self.head_dim), 2, axis=-1)
        k = self.k(x).reshape(tokens, self.kv_heads, self.head_dim)
        v = self.v(x).reshape(tokens, self.kv_heads, self.head_dim)
        q = self._rotate(rms_norm(q, self.q_norm, self.eps), cache.length)
        k = self._rotate(rms_norm(k, self.k_norm, self.eps), cache.length)
        keys, values = cache.append(k, v.swapaxes(0, 1))
        o = causal_attention(q, keys, values, self.head_dim**-0.5).swapaxes(0, 1)
        return self.out((o * mx.sigmoid(gate)).reshape(tokens, -1))

    def _rotate(self, x: mx.array, offset: int) -> mx.array:
        """x [T, heads, dim] → [heads, T, dim], the first `rotary_dim` dimensions rotated by position."""
        return mx.fast.rope(
            x.swapaxes(0, 1)[None],
            self.rotary_dim,
            traditional=False,
            base=self.rope_theta,
            scale=1.0,
            offset=offset,
        )[0]
