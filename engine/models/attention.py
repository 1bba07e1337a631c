"""Causal attention over a cache, by blocks of queries so that no score matrix grows large."""

from __future__ import annotations

import mlx.core as mx

MAX_SCORES = 8 * 1024 * 1024
"""Scores (heads × queries × keys) computed at once; 32 MiB in float32."""
MAX_LATENT_SCORES = MAX_SCORES // 4
"""The same where scores are held several times over: sum, masked, softmax."""


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


def latent_attention(q: mx.array, q_rotated: mx.array, latents: mx.array, keys: mx.array, scale: float) -> mx.array:
    """All heads attend to the same rows: score (q · latent + q_rotated · key) · scale, value the latent itself.

    q [H, T, R], q_rotated [H, T, D], latents [L, R], keys [L, D] with L ≥ T; the last query sees every row.
    → [H, T, R]. Heads are further rows of one matrix product, so neither rows nor scores are copied per head.
    """
    heads, tokens, rank = q.shape
    length = latents.shape[0]
    block = max(1, MAX_LATENT_SCORES // (heads * length))
    past = length - tokens
    out = []
    for start in range(0, tokens, block):
        end = min(start + block, tokens)
        seen = past + end
        rows = latents[:seen]
        unplaced = q[:, start:end].reshape(-1, rank) @ rows.T
        placed = q_rotated[:, start:end].reshape(unplaced.shape[0], -1) @ keys[:seen].T
        scores = (unplaced.astype(mx.float32) + placed.astype(mx.float32)) * scale
        scores = scores.reshape(heads, end - start, seen)
        if end - start > 1:
            earlier = mx.arange(past + start, seen)[:, None] >= mx.arange(seen)[None]
            scores = mx.where(earlier, scores, -float("inf"))
        shares = mx.softmax(scores, axis=-1).astype(latents.dtype)
        out.append((shares.reshape(-1, seen) @ rows).reshape(heads, end - start, rank))
        if end < tokens:
            mx.eval(out[-1])  # else the scores of many blocks are allocated before the first is computed
    return out[0] if len(out) == 1 else mx.concatenate(out, axis=1)
