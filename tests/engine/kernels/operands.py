"""Random operands for the kernels."""

from __future__ import annotations

import mlx.core as mx
import numpy as np
import numpy.typing as npt

from engine.kernels.types import ExpertArrays, Quantized

Floats = npt.NDArray[np.float32]


def activations(seed: int, *shape: int) -> Floats:
    return np.random.default_rng(seed).standard_normal(shape, np.float32)


def matrix(shape: tuple[int, ...], seed: int, bits: int = 4, group_size: int = 64) -> Quantized:
    """Normal values, packed by MLX as the published checkpoints were."""
    dense = mx.array(activations(seed, *shape) / np.float32(np.sqrt(shape[-1]))).astype(mx.bfloat16)
    weight, scales, biases = mx.quantize(dense, group_size=group_size, bits=bits)
    mx.eval(weight, scales, biases)
    return Quantized(weight, scales, biases, group_size, bits)


def experts(slots: int, hidden: int, inner: int, seed: int, bits: int = 4, group_size: int = 64) -> ExpertArrays:
    return ExpertArrays(
        matrix((slots, 2 * inner, hidden), seed, bits, group_size),
        matrix((slots, hidden, inner), seed + 1, bits, group_size),
    )
