"""What a conversation leaves in the model: growing caches and fixed-size recurrent states.

A cache of past tokens can be cut to any length; a recurrent state cannot, so it is kept as it was at chosen
positions (`Snapshot`). MLX arrays are immutable, so a snapshot only holds references until the state moves on.
"""

from __future__ import annotations

from dataclasses import dataclass

import mlx.core as mx

GROWTH = 256
"""Tokens by which a cache grows at a time."""


class TokenCache:
    """Rows per token in one or more buffers of shape [heads, capacity, dim]; `length` rows are valid."""

    def __init__(self, heads: int, dims: tuple[int, ...], dtype: mx.Dtype) -> None:
        self.heads, self.dims, self.dtype = heads, dims, dtype
        self.length = 0
        self._buffers: list[mx.array] = []

    @property
    def bytes_per_token(self) -> int:
        return self.heads * sum(self.dims) * self.dtype.size

    @property
    def nbytes(self) -> int:
        """Bytes allocated, which is up to GROWTH − 1 tokens more than are in use."""
        return sum(buffer.nbytes for buffer in self._buffers)

    def append(self, *rows: mx.array) -> list[mx.array]:
        """rows: per buffer [heads, T, dim] → all valid rows of each buffer, [heads, length, dim]."""
        start, end = self.length, self.length + rows[0].shape[1]
        capacity = self._buffers[0].shape[1] if self._buffers else 0
        if end > capacity:
            grown = -(-end // GROWTH) * GROWTH
            fresh = [mx.zeros((self.heads, grown, dim), dtype=self.dtype) for dim in self.dims]
            for index, old in enumerate(self._buffers):
                fresh[index][:, :start] = old[:, :start]
            self._buffers = fresh
        for buffer, new in zip(self._buffers, rows, strict=True):
            buffer[:, start:end] = new.astype(self.dtype)
        self.length = end
        return [buffer[:, :end] for buffer in self._buffers]

    def cut(self, length: int) -> None:
        """Forget every row from `length` on."""
        self.length = min(self.length, length)

    def arrays(self) -> list[mx.array]:
        return self._buffers


@dataclass
class Recurrent:
    """A delta-rule layer's state: the last rows before each convolution, and S [heads, value, key] in float32."""

    history: tuple[mx.array, ...]
    state: mx.array

    def arrays(self) -> list[mx.array]:
        return [*self.history, self.state]

    @property
    def nbytes(self) -> int:
        return self.state.nbytes + sum(rows.nbytes for rows in self.history)


@dataclass(frozen=True)
class Snapshot:
    """Recurrent states after the first `length` tokens."""

    length: int
    recurrent: tuple[tuple[tuple[mx.array, ...], mx.array] | None, ...]


@dataclass
class ModelState:
    """Per layer either a `TokenCache` or a `Recurrent`; `length` tokens have gone through."""

    layers: list[TokenCache | Recurrent]
    length: int = 0

    def snapshot(self) -> Snapshot:
        """The state as it is now; costs nothing until the state changes."""
        return Snapshot(
            self.length,
            tuple((x.history, x.state) if isinstance(x, Recurrent) else None for x in self.layers),
        )

    def restore(self, snapshot: Snapshot) -> None:
        """Back to a snapshot of this same state. The first `snapshot.length` cached rows must be unchanged."""
        for layer, saved in zip(self.layers, snapshot.recurrent, strict=True):
            if isinstance(layer, Recurrent):
                assert saved is not None
                layer.history, layer.state = saved
            else:
                layer.cut(snapshot.length)
        self.length = snapshot.length

    def arrays(self) -> list[mx.array]:
        """Everything that must be evaluated for the step to be over."""
        return [array for layer in self.layers for array in layer.arrays()]

    @property
    def cache_bytes(self) -> int:
        return sum(x.nbytes for x in self.layers if isinstance(x, TokenCache))

    @property
    def cache_bytes_per_token(self) -> int:
        return sum(x.bytes_per_token for x in self.layers if isinstance(x, TokenCache))

    @property
    def recurrent_bytes(self) -> int:
        return sum(x.nbytes for x in self.layers if isinstance(x, Recurrent))
