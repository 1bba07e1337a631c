"""The choice of kernels, the self-test, and the probe."""

from __future__ import annotations

import mlx.core as mx
import pytest

from engine.errors import EngineError, UsageError
from engine.kernels import describe, get_kernels, select, selftest
from engine.kernels.interface import Indices, Kernels
from engine.kernels.mlx_kernels import MlxKernels
from engine.kernels.types import ExpertArrays, Quantized


@pytest.mark.parametrize("name", ["mlx", "cpu"])
def test_override(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(select.VARIABLE, name)
    assert get_kernels().name == name
    assert get_kernels() is get_kernels()
    assert describe()["kernels"] == name


def test_unknown_override_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(select.VARIABLE, "cuda")
    with pytest.raises(UsageError, match=r"EDGE0_KERNELS='cuda' is not one of mlx, cpu"):
        get_kernels()


@pytest.mark.parametrize("version", ["0.30.4", "0.32.0", "0.9.9"])
def test_old_mlx_is_refused(monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    monkeypatch.setattr(select, "mlx_version", lambda: version)
    with pytest.raises(EngineError, match="too old"):
        select.check_mlx()


@pytest.mark.parametrize("version", ["0.32.1", "0.33.0.dev20261101+abc"])
def test_newer_mlx_is_accepted(monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    monkeypatch.setattr(select, "mlx_version", lambda: version)
    select.check_mlx()


def test_selftest_passes_here(kernels: Kernels) -> None:
    selftest.run(kernels)


class WrongGather(MlxKernels):
    """A device on which the gathered product reads its neighbour's scales."""

    def _gathered(self, x: mx.array, index: mx.array, w: Quantized, sorted_indices: bool) -> mx.array:
        wrong = Quantized(w.weight, mx.roll(w.scales, 1, 0), w.biases, w.group_size, w.bits)
        return super()._gathered(x, index, wrong, sorted_indices)


class NotANumber(MlxKernels):
    def experts(self, x: mx.array, slots: Indices, arrays: ExpertArrays) -> mx.array:
        return super().experts(x, slots, arrays) * float("nan")


@pytest.mark.parametrize("broken", [WrongGather, NotANumber])
def test_selftest_notices_wrong_numbers(broken: type[MlxKernels]) -> None:
    with pytest.raises(EngineError, match="computes the experts of a token wrongly"):
        selftest.run(broken(mx.float32))
