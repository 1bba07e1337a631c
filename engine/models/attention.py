"""Causal attention over a cache, by blocks of queries so that no score matrix grows large."""

from __future__ import annotations

import mlx.core as mx

MAX_SCORES = 8 * 1024 * 1024
"""Scores (heads × queries × keys) computed at once; 32 MiB in float32."""


def causal_attention(q: mx.array, k: mx.array, v: mx.array, scale: float) -> mx.array:
    """q [Hq, T, D], k [Hkv, L, D], v [Hkv, L, Dv] with L ≥ T; the last query sees every key. → [Hq, T, Dv]."""
    heads, tokens, _ = q.shape
    length = k.shape[1]
    block = max(1, MAX_SCORES // (heads * length))
    past = length - tokens
    out = []
    for start in range(0, tokens, block):
        end = min(start + block, tokens)
        seen = past + end
        out.append(
            mx.fast.scaled_dot_product_attention(
                q[None, :, start:end],
                k[None, :, :seen],
                v[None, :, :seen],
                scale=scale,
                mask="causal" if end - start > 1 else None,
            )[0]
        )
    return out[0] if len(out) == 1 else mx.concatenate(out, axis=1)
