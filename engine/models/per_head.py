"""A projection applied head by head and from both sides, as absorbed latent attention needs it."""

from __future__ import annotations

import mlx.core as mx

from engine.models.linear import LowRank


class PerHead:
    """kv_b of multi-head latent attention: per head, rows that make a key from a latent, then rows for a value.

    With k = W_k c the score q · k equals (q W_k) · c, and Σ p W_v c equals W_v (Σ p c): neither keys nor values
    are ever made, so only latents are cached. `absorb` needs W_k from the left, which the quantised products do
    not have (their scales run along the latent), so the matrices are held dequantised.

    The adapter's B has the same rows as W and its A the same columns, hence its share splits the same way and is
    applied exactly: (q B_k) A and (o Aᵀ) B_vᵀ.
    """

    def __init__(self, matrix: mx.array, heads: int, key_dim: int) -> None:
        """matrix [heads · (key_dim + value_dim), latent]."""
        rows = matrix.reshape(heads, -1, matrix.shape[-1])
        self.heads, self.key_dim = heads, key_dim
        self.keys = mx.contiguous(rows[:, :key_dim])
        self.values = mx.contiguous(rows[:, key_dim:])
        self.adapter: LowRank | None = None
        mx.eval(self.keys, self.values)

    @property
    def shape(self) -> tuple[int, int]:
        """(out, in) of the projection as stored."""
        heads, value_dim, latent = self.values.shape
        return heads * (self.key_dim + value_dim), latent

    def absorb(self, q: mx.array) -> mx.array:
        """q [heads, T, key_dim] → q W_k [heads, T, latent]."""
        y = q @ self.keys
        if self.adapter is not None:
            b = self._b(self.adapter)[:, : self.key_dim]
            y = y + self.adapter.through(q, b, self.adapter.a).astype(y.dtype)
        return y

    def expand(self, o: mx.array) -> mx.array:
        """o [heads, T, latent] → W_v o [heads, T, value_dim]."""
        y = o @ self.values.swapaxes(1, 2)
        if self.adapter is not None:
            b = self._b(self.adapter)[:, self.key_dim :].swapaxes(1, 2)
            y = y + self.adapter.through(o, self.adapter.a.T, b).astype(y.dtype)
        return y

    def _b(self, adapter: LowRank) -> mx.array:
        """[heads, key_dim + value_dim, rank]."""
        return adapter.b.reshape(self.heads, -1, adapter.b.shape[-1])
