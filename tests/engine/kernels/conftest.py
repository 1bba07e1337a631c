"""The implementations under test."""

from __future__ import annotations

import mlx.core as mx
import pytest

from engine.kernels.cpu.kernels import CpuKernels
from engine.kernels.interface import Kernels
from engine.kernels.mlx_kernels import MlxKernels


@pytest.fixture(scope="session")
def cpu() -> CpuKernels:
    return CpuKernels()


@pytest.fixture(scope="session", params=["cpu", "mlx"])
def kernels(request: pytest.FixtureRequest, cpu: CpuKernels) -> Kernels:
    return cpu if request.param == "cpu" else MlxKernels(mx.float32)
