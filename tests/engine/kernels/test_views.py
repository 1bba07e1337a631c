"""Views see what is read into an arena, and go away with their matrix."""

from __future__ import annotations

import gc
from typing import Any

import mlx.core as mx
import numpy as np
import numpy.typing as npt
import pytest

from engine.errors import EngineError
from engine.kernels.cpu import views
from engine.kernels.types import Quantized
from tests.engine.kernels.operands import matrix


def arena(slots: int) -> tuple[Quantized, list[npt.NDArray[Any]]]:
    """Slots as the engine allocates them, and the writable memory behind them."""
    weight = mx.zeros((slots, 8, 16), mx.uint32)
    scales, biases = mx.zeros((slots, 8, 2), mx.uint16), mx.zeros((slots, 8, 2), mx.uint16)
    mx.eval(weight, scales, biases)
    memory = [np.asarray(a) for a in (weight, scales, biases)]
    return Quantized(weight, scales.view(mx.bfloat16), biases.view(mx.bfloat16), 64, 4), memory


def test_bytes_written_in_place_are_seen() -> None:
    slots, memory = arena(3)
    before = views.packed(slots)
    record = matrix((8, 128), 1)
    parts = [np.array(a) for a in (record.weight, record.scales.view(mx.uint16), record.biases.view(mx.uint16))]
    for target, part in zip(memory, parts, strict=True):
        target[2] = part
    after = views.packed(slots)
    assert after is before
    views_now: list[npt.NDArray[Any]] = [*after]
    for seen, part in zip(views_now, parts, strict=True):
        assert np.array_equal(seen[2], part)


def test_weights_that_would_have_to_be_copied_are_refused() -> None:
    w = matrix((8, 128), 5)
    turned = Quantized(w.weight, mx.zeros((2, 8), mx.bfloat16).T, w.biases, 64, 4)
    with pytest.raises(EngineError, match="must be contiguous uint16"):
        views.packed(turned)


def test_a_matrix_is_one_of_a_stack_of_one() -> None:
    assert [a.shape for a in views.packed(matrix((8, 128), 2))] == [(1, 8, 16), (1, 8, 2), (1, 8, 2)]


def test_views_do_not_keep_a_matrix_alive() -> None:
    w = matrix((8, 128), 3)
    views.packed(w)
    key = id(w)
    assert key in views._known
    del w
    gc.collect()
    assert key not in views._known
