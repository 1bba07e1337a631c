"""The packed format in plain numpy and float64: what every implementation is held against."""

from __future__ import annotations

import mlx.core as mx
import numpy as np
import numpy.typing as npt

from engine.kernels.types import ExpertArrays, Quantized

Doubles = npt.NDArray[np.float64]


def dequantise(w: Quantized) -> Doubles:
    """[..., out, in]: value i of a word is its bits i · bits …, low first; w = q · scale + bias."""
    words = np.array(w.weight)
    shifts = np.arange(0, 32, w.bits, dtype=np.uint32)
    fields = (words[..., None] >> shifts) & np.uint32((1 << w.bits) - 1)
    q = fields.astype(np.float64).reshape(*words.shape[:-1], w.in_features)
    scales, biases = (np.array(a.astype(mx.float32)).astype(np.float64) for a in (w.scales, w.biases))
    dense: Doubles = q * np.repeat(scales, w.group_size, -1) + np.repeat(biases, w.group_size, -1)
    return dense


def expert(x: Doubles, arrays: ExpertArrays, slot: int) -> Doubles:
    """x [R, hidden] → down(silu(gate x) · up x) [R, hidden] of one slot."""
    gate_up, down = (
        dequantise(Quantized(m.weight[slot], m.scales[slot], m.biases[slot], m.group_size, m.bits))
        for m in (arrays.gate_up, arrays.down)
    )
    gate, up = np.split(x @ gate_up.T, 2, axis=-1)
    hidden: Doubles = (gate / (1.0 + np.exp(-gate)) * up) @ down.T
    return hidden


def gated_delta(
    q: Doubles, k: Doubles, v: Doubles, g: Doubles, beta: Doubles, state: Doubles
) -> tuple[Doubles, Doubles]:
    """`Kernels.gated_delta`, one token after another."""
    repeats = v.shape[1] // k.shape[1]
    q, k = np.repeat(q, repeats, 1), np.repeat(k, repeats, 1)
    g = g[..., None] if g.ndim == 2 else g
    state, out = state.copy(), np.empty(v.shape)
    for t in range(len(v)):
        state *= g[t][:, None, :]
        u = beta[t][:, None] * (v[t] - np.einsum("hvk,hk->hv", state, k[t]))
        state += u[:, :, None] * k[t][:, None, :]
        out[t] = np.einsum("hvk,hk->hv", state, q[t])
    return out, state
