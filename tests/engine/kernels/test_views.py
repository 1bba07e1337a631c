"""Views see what is read into an arena, and go away with their matrix."""

from __future__ import annotations

import gc

import mlx.core as mx
import numpy as np
from conftest import Matrix, quantised

from engine.kernels.cpu import views
from engine.kernels.cpu.kernels import CpuKernels
from engine.kernels.types import Quantized


def arena(slots: int) -> tuple[Quantized, list[np.ndarray]]:
    """Slots as the engine allocates them, and the writable memory behind them."""
    weight = mx.zeros((slots, 8, 16), mx.uint32)
    scales, biases = mx.zeros((slots, 8, 2), mx.uint16), mx.zeros((slots, 8, 2), mx.uint16)
    mx.eval(weight, scales, biases)
    memory = [np.asarray(a) for a in (weight, scales, biases)]
    return Quantized(weight, scales.view(mx.bfloat16), biases.view(mx.bfloat16), 64, 4), memory


def test_bytes_written_in_place_are_seen(cpu: CpuKernels) -> None:
    slots, memory = arena(3)
    before = views.packed(slots)
    record = quantised((8, 128), 1)
    for target, source in zip(memory, (record.weight, record.scales, record.biases), strict=True):
        target[2] = np.array(source if source.dtype == mx.uint32 else source.view(mx.uint16))
    after = views.packed(slots)
    assert after is before
    for seen, source in zip(after, (record.weight, record.scales, record.biases), strict=True):
        assert np.array_equal(seen[2], np.array(source if source.dtype == mx.uint32 else source.view(mx.uint16)))


def test_a_matrix_is_one_of_a_stack_of_one(matrix: Matrix) -> None:
    assert [a.shape for a in views.packed(matrix((8, 128), 2))] == [(1, 8, 16), (1, 8, 2), (1, 8, 2)]


def test_views_do_not_keep_a_matrix_alive() -> None:
    w = quantised((8, 128), 3)
    views.packed(w)
    key = id(w)
    assert key in views._known
    del w
    gc.collect()
    assert key not in views._known
