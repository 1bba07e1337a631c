"""Arrays the kernels work on."""

from __future__ import annotations

from dataclasses import dataclass

import mlx.core as mx


@dataclass(frozen=True)
class Quantized:
    """An affine-quantised matrix, or a stack of them: w = q · scale + bias, low bits first.

    weight  uint32   [..., out, in · bits / 32]
    scales  bfloat16 [..., out, in / group_size]
    biases  bfloat16 [..., out, in / group_size]
    """

    weight: mx.array
    scales: mx.array
    biases: mx.array
    group_size: int
    bits: int

    @property
    def out_features(self) -> int:
        return int(self.weight.shape[-2])

    @property
    def in_features(self) -> int:
        return int(self.weight.shape[-1]) * 32 // self.bits

    @property
    def nbytes(self) -> int:
        return self.weight.nbytes + self.scales.nbytes + self.biases.nbytes


@dataclass(frozen=True)
class ExpertArrays:
    """Expert matrices by slot, with gate above up so that one product serves both.

    gate_up  Quantized [slots, 2 · intermediate, hidden]
    down     Quantized [slots, hidden, intermediate]
    """

    gate_up: Quantized
    down: Quantized
