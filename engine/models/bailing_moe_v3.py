"""Bailing MoE v3 (Ling 3.0 hybrid): kimi delta attention in three layers of four, latent attention in the fourth.

The published 8B is of this family; its first layer has no experts. Maths after "Kimi Linear" (Moonshot AI, 2025)
for the delta rule with a decay per channel, "DeepSeek-V2" (2024) for multi-head latent attention in absorbed
form, and "DeepSeek-V3" (2024) for sigmoid routing inside groups (`engine.models.routing`).
"""

from __future__ import annotations

from dataclasses import dataclass

import mlx.core as mx

from engine.kernels.interface import Kernels
from engine.models.attention import latent_attention
from engine.models.blocks import rms_norm
from engine.models.cache import Recurrent, TokenCache
from engine.models.delta import DeltaRule
from engine.models.linear import Linear
from engine.models.per_head import PerHead


@dataclass(frozen=True)
class KimiDeltaAttention:
    """Linear attention whose state decays by channel, at a rate bounded from below ("safe gate"); no positions.

    a_log [H], dt_bias [H · D] and norm [D] in float32.
    """

    rule: DeltaRule
    lower_bound: float
    eps: float
    q: Linear
    k: Linear
    v: Linear
    f: Linear
    b: Linear
    g: Linear
    out: Linear
    a_log: mx.array
    dt_bias: mx.array
    norm: mx.array

    def fresh_state(self) -> Recurrent:
        return self.rule.fresh_state()

    def __call__(self, x: mx.array, state: Recurrent) -> mx.array:
        """x [T, hidden] → [T, hidden]; `state` moves on by T tokens."""
        by_channel = (x.shape[0], self.rule.value_heads, self.rule.key_dim)
        rate = (self.f(x).astype(mx.float32) + self.dt_bias).reshape(by_channel)
        decay = mx.exp(self.lower_bound * mx.sigmoid(mx.exp(self.a_log)[:, None] * rate))
        beta = mx.sigmoid(self.b(x).astype(mx.float32))
        qkv = mx.concatenate([self.q(x), self.k(x), self.v(x)], axis=-1)
        o = self.rule(qkv, decay, beta, state)
        gate = self.g(x).reshape(o.shape).astype(mx.float32)
        y = rms_norm(o, self.norm, self.eps) * mx.sigmoid(gate)
        return self.out(y.reshape(x.shape[0], -1).astype(x.dtype))


@dataclass(frozen=True)
class LatentAttention:
    """Attention over one latent and one rotated key per token, shared by all heads, with a sigmoid gate per head.

    Per head the query is [nope_dim | rope_dim]; q_norm [q rank] and kv_norm [latent].
    """

    kernels: Kernels
    heads: int
    nope_dim: int
    rope_dim: int
    rope_theta: float
    eps: float
    q_a: Linear
    q_b: Linear
    kv_a: Linear
    kv_b: PerHead
    gate: Linear
    out: Linear
    q_norm: mx.array
    kv_norm: mx.array

    def fresh_state(self) -> TokenCache:
        return TokenCache(1, (self.kv_norm.size, self.rope_dim), self.kernels.activation_dtype)

    def __call__(self, x: mx.array, cache: TokenCache) -> mx.array:
        """x [T, hidden] → [T, hidden]; the cache grows by T rows."""
        tokens, offset = x.shape[0], cache.length
        q = self.q_b(rms_norm(self.q_a(x), self.q_norm, self.eps)).reshape(tokens, self.heads, -1).swapaxes(0, 1)
        q_n, q_r = mx.split(q, [self.nope_dim], axis=-1)
        latent, key = mx.split(self.kv_a(x), [self.kv_norm.size], axis=-1)
        latent = rms_norm(latent, self.kv_norm, self.eps)
        latents, keys = cache.append(latent[None], self._rotate(key[None], offset))
        scale = (self.nope_dim + self.rope_dim) ** -0.5
        o = latent_attention(self.kv_b.absorb(q_n), self._rotate(q_r, offset), latents[0], keys[0], scale)
        gate = mx.sigmoid(self.gate(x).astype(mx.float32)).astype(x.dtype)
        return self.out((self.kv_b.expand(o).swapaxes(0, 1) * gate[..., None]).reshape(tokens, -1))

    def _rotate(self, x: mx.array, offset: int) -> mx.array:
        """x [heads, T, rope_dim], the pairs (2i, 2i + 1) rotated by position."""
        return mx.fast.rope(
            x[None], self.rope_dim, traditional=True, base=self.rope_theta, scale=1.0, offset=offset
        )[0]
