"""On the CPU a row's bits depend on nothing but the row and the weights."""

from __future__ import annotations

import mlx.core as mx
import numpy as np
import pytest

from engine.kernels.cpu import compiled
from engine.kernels.cpu.kernels import CpuKernels
from tests.engine.kernels.operands import Floats, activations, experts, matrix

ROWS = 11


@pytest.fixture
def x() -> Floats:
    return activations(1, ROWS, 256)


@pytest.mark.parametrize("bits", [4, 8])
def test_a_row_of_a_product_does_not_see_the_others(cpu: CpuKernels, x: Floats, bits: int) -> None:
    w = matrix((37, 256), 2, bits)
    together = np.array(cpu.linear(mx.array(x), w))
    for first, last in ((0, 1), (3, 5), (4, 11)):
        assert np.array_equal(np.array(cpu.linear(mx.array(x[first:last]), w)), together[first:last])


def test_an_expert_does_not_see_the_others(cpu: CpuKernels, x: Floats) -> None:
    arrays = experts(5, 256, 128, 3)
    slots, offsets = np.array([4, 0, 2], np.int32), np.array([0, 1, 7, ROWS], np.int32)
    grouped = np.array(cpu.grouped_experts(mx.array(x), slots, offsets, arrays))
    alone = cpu.grouped_experts(mx.array(x[1:7]), slots[1:2], np.array([0, 6], np.int32), arrays)
    assert np.array_equal(np.array(alone), grouped[1:7])
    per_row = np.repeat(slots, np.diff(offsets))[:, None]
    decoded = np.array(cpu.experts(mx.array(x), per_row, arrays))[:, 0]
    assert np.array_equal(decoded, grouped)


def test_results_do_not_depend_on_the_number_of_threads(
    cpu: CpuKernels, x: Floats, monkeypatch: pytest.MonkeyPatch
) -> None:
    w, arrays, slots = matrix((100, 256), 4), experts(4, 256, 128, 5), np.array([[3, 1]] * ROWS, np.int32)

    def compute() -> tuple[Floats, Floats]:
        return np.array(cpu.linear(mx.array(x), w)), np.array(cpu.experts(mx.array(x), slots, arrays))

    several = compute()
    monkeypatch.setattr(compiled, "threads", 1)
    for a, b in zip(several, compute(), strict=True):
        assert np.array_equal(a, b)
