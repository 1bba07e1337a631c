"""A projection whose low-rank adapter stays beside it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import mlx.core as mx

from engine.kernels.interface import Kernels
from engine.kernels.types import Quantized


@dataclass(frozen=True)
class LowRank:
    """An unmerged LoRA update: x ↦ scale · (x · Aᵀ) · Bᵀ.

    a  [rank, in], b  [out, rank], both in the dtype the update is computed in (float16 as published on
    Metal, float32 where the device has no fast half precision).
    """

    a: mx.array
    b: mx.array
    scale: float

    @property
    def nbytes(self) -> int:
        return self.a.nbytes + self.b.nbytes

    def __call__(self, x: mx.array) -> mx.array:
        """x [..., in] → [..., out] in the adapter's dtype; the rounding to float16 is part of the release."""
        return self.through(x, self.a.T, self.b.T)

    def through(self, x: mx.array, first: mx.array, second: mx.array) -> mx.array:
        """scale · (x · first) · second, in the adapter's dtype."""
        narrow = x.astype(mx.float16) if self.a.dtype == mx.float16 else x
        return self.scale * ((narrow @ first) @ second)


class Adaptable(Protocol):
    """A projection an adapter can be attached to and taken from."""

    adapter: LowRank | None


class Linear:
    """y = x · Wᵀ, plus the adapter's share when one is attached. The base weight is never written to."""

    def __init__(self, kernels: Kernels, weight: Quantized | mx.array) -> None:
        self.kernels = kernels
        self.weight = weight
        self.adapter: LowRank | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """(out, in)."""
        if isinstance(self.weight, Quantized):
            return self.weight.out_features, self.weight.in_features
        return int(self.weight.shape[0]), int(self.weight.shape[1])

    def __call__(self, x: mx.array) -> mx.array:
        w = self.weight
        y = self.kernels.linear(x, w) if isinstance(w, Quantized) else x @ w.T
        if self.adapter is not None:
            y = y + self.adapter(x).astype(y.dtype)
        return y
