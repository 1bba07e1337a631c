"""The implementations under test, and random operands."""

from __future__ import annotations

from collections.abc import Callable

import mlx.core as mx
import numpy as np
import pytest

from engine.kernels.cpu.kernels import CpuKernels
from engine.kernels.interface import Kernels
from engine.kernels.mlx_kernels import MlxKernels
from engine.kernels.types import ExpertArrays, Quantized

Matrix = Callable[..., Quantized]
Experts = Callable[..., ExpertArrays]


@pytest.fixture(scope="session")
def cpu() -> CpuKernels:
    return CpuKernels()


@pytest.fixture(scope="session", params=["cpu", "mlx"])
def kernels(request: pytest.FixtureRequest, cpu: CpuKernels) -> Kernels:
    return cpu if request.param == "cpu" else MlxKernels(mx.float32)


def quantised(shape: tuple[int, ...], seed: int, bits: int = 4, group_size: int = 64) -> Quantized:
    """Normal values, packed by MLX as the published checkpoints were."""
    values = np.random.default_rng(seed).standard_normal(shape, np.float32) / np.sqrt(shape[-1])
    dense = mx.array(values).astype(mx.bfloat16)
    weight, scales, biases = mx.quantize(dense, group_size=group_size, bits=bits)
    mx.eval(weight, scales, biases)
    return Quantized(weight, scales, biases, group_size, bits)


@pytest.fixture(scope="session")
def matrix() -> Matrix:
    return quantised


@pytest.fixture(scope="session")
def experts() -> Experts:
    def build(slots: int, hidden: int, inner: int, seed: int, bits: int = 4, group_size: int = 64) -> ExpertArrays:
        return ExpertArrays(
            quantised((slots, 2 * inner, hidden), seed, bits, group_size),
            quantised((slots, hidden, inner), seed + 1, bits, group_size),
        )

    return build
