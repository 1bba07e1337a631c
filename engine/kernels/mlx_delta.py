"""The gated delta rule in MLX operations: token after token, or chunks of tokens at once.

Within a chunk let R_ts = Π_{s < r ≤ t} g_r and G_t = Π_{r ≤ t} g_r. Unrolling S_t = g_t S_{t−1} + u_t k_tᵀ gives

    u_t = β_t (v_t − S₀ (G_t ∘ k_t) − Σ_{s<t} [Σ_d k_td R_tsd k_sd] u_s)
    o_t = S₀ (G_t ∘ q_t) + Σ_{s≤t} [Σ_d q_td R_tsd k_sd] u_s
    S_C = S₀ ∘ G_C + Σ_s u_s (R_Cs ∘ k_s)ᵀ

so u solves a unit lower triangular system (the WY form of Yang et al., "Parallelizing Linear Transformers with
the Delta Rule"). Decays enter only as products of factors ≤ 1, never as quotients: exp(−320) is simply 0.
"""

from __future__ import annotations

import mlx.core as mx

CHUNK = 64
CHANNEL_CHUNK = 16  # per-channel decay needs [C, C, Dk] per head
SEGMENT = 128  # tokens prepared together; bounds the memory of the step above
SMALL = 4  # up to here the plain recurrence is less work


def gated_delta(
    q: mx.array, k: mx.array, v: mx.array, g: mx.array, beta: mx.array, state: mx.array
) -> tuple[mx.array, mx.array]:
    """See `Kernels.gated_delta`."""
    q, k, v, g, beta, state = (a.astype(mx.float32) for a in (q, k, v, g, beta, state))
    repeats = v.shape[1] // k.shape[1]
    if repeats > 1:
        q, k = mx.repeat(q, repeats, axis=1), mx.repeat(k, repeats, axis=1)
    g = g[..., None] if g.ndim == 2 else g
    tokens = v.shape[0]
    outputs = []
    if tokens <= SMALL:
        for t in range(tokens):
            o, state = _step(q[t], k[t], v[t], g[t], beta[t], state)
            outputs.append(o[None])
    else:
        for start in range(0, tokens, SEGMENT):
            part = slice(start, start + SEGMENT)
            o, state = _segment(q[part], k[part], v[part], g[part], beta[part], state)
            outputs.append(o)
    return mx.concatenate(outputs), state


def _step(
    q: mx.array, k: mx.array, v: mx.array, g: mx.array, beta: mx.array, state: mx.array
) -> tuple[mx.array, mx.array]:
    """One token: q, k [H, Dk], v [H, Dv], g [H, 1 or Dk], beta [H]."""
    state = state * g[:, None, :]
    u = beta[:, None] * (v - (state * k[:, None, :]).sum(-1))
    state = state + u[:, :, None] * k[:, None, :]
    return (state * q[:, None, :]).sum(-1), state


def _segment(
    q: mx.array, k: mx.array, v: mx.array, g: mx.array, beta: mx.array, state: mx.array
) -> tuple[mx.array, mx.array]:
    tokens, heads = v.shape[:2]
    per_channel = g.shape[-1] > 1
    size = CHANNEL_CHUNK if per_channel else CHUNK
    count = -(-tokens // size)

    def chunks(a: mx.array, fill: float = 0.0) -> mx.array:
        """[T, H, D] → [N, H, C, D]; tokens added at the end change nothing (k = β = 0, g = 1)."""
        if count * size > tokens:
            a = mx.pad(a, [(0, count * size - tokens), (0, 0), (0, 0)], constant_values=fill)
        return a.reshape(count, size, heads, -1).swapaxes(1, 2)

    q, k, v, beta, g = chunks(q), chunks(k), chunks(v), chunks(beta[..., None]), chunks(g, 1.0)
    later = mx.tri(size, size, -1)[:, :, None]  # r > s
    ratio = mx.cumprod(mx.where(later > 0, g[:, :, :, None, :], 1.0), axis=2)  # R [N, H, t, s, 1 or Dk]
    if per_channel:
        weighted = ratio * k[:, :, None, :, :]
        kk = (weighted * k[:, :, :, None, :]).sum(-1)
        qk = (weighted * q[:, :, :, None, :]).sum(-1)
    else:
        kk = ratio[..., 0] * (k @ k.swapaxes(-1, -2))
        qk = ratio[..., 0] * (q @ k.swapaxes(-1, -2))
    reached = mx.cumprod(g, axis=2)  # G
    inverse = _unit_lower_inverse(beta * mx.tril(kk, -1))
    u_v, u_k = inverse @ (beta * v), inverse @ (beta * reached * k)
    within, from_state = mx.tril(qk), reached * q
    remaining = ratio[:, :, -1] * k  # R_Cs ∘ k_s
    outputs = []
    for n in range(count):
        before = state.swapaxes(-1, -2)
        u = u_v[n] - u_k[n] @ before
        outputs.append(from_state[n] @ before + within[n] @ u)
        state = state * reached[n, :, -1:] + u.swapaxes(-1, -2) @ remaining[n]
    o = mx.stack(outputs).swapaxes(1, 2).reshape(count * size, heads, -1)
    return o[:tokens], state


def _unit_lower_inverse(low: mx.array) -> mx.array:
    """(I + low)⁻¹ for strictly lower triangular low [..., C, C], C a power of two, by halves.

    A Neumann product would need fewer steps but loses everything when keys repeat.
    """
    size = low.shape[-1]
    if size == 1:
        return mx.ones_like(low)
    h = size // 2
    halves = _unit_lower_inverse(mx.stack([low[..., :h, :h], low[..., h:, h:]], axis=-3))
    first, second = halves[..., 0, :, :], halves[..., 1, :, :]
    corner = -(second @ (low[..., h:, :h] @ first))
    upper = mx.concatenate([first, mx.zeros_like(first)], axis=-1)
    return mx.concatenate([upper, mx.concatenate([corner, second], axis=-1)], axis=-2)
