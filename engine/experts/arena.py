"""The memory experts live in: one allocation of equal slots, written by readers, read by MLX's kernels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import mlx.core as mx

from engine.errors import PlanError
from engine.experts.record import RecordShape
from engine.kernels.types import ExpertArrays, Quantized


class Arena:
    """`slots` expert records as six arrays, allocated once and valid for the arena's whole life.

    gate_up  weight uint32 [S, 2I, H · bits / 32], scales and biases bfloat16 [S, 2I, H / group_size]
    down     weight uint32 [S, H, I · bits / 32], scales and biases bfloat16 [S, H, I / group_size]

    Construct it on the thread that owns MLX. `destinations` makes no MLX call, so its views may be filled by
    any thread. Never assign to the arrays: MLX would install another buffer behind the views.
    """

    def __init__(self, shape: RecordShape, slots: int) -> None:
        if slots < 1:
            raise PlanError(f"an expert arena needs at least one slot, not {slots}")
        self.shape = shape
        self.slots = slots
        gate_up, up_bytes = _matrix(shape, slots, 2 * shape.intermediate, shape.words[0], shape.groups[0])
        down, down_bytes = _matrix(shape, slots, shape.hidden, shape.words[1], shape.groups[1])
        self.arrays = ExpertArrays(gate_up, down)
        self._gate_up, self._down = up_bytes, down_bytes
        self.nbytes = gate_up.nbytes + down.nbytes

    def destinations(self, slot: int) -> Sequence[memoryview]:
        """The slot's nine pieces as writable views of bytes, in the order of `record.PIECES`."""
        if not 0 <= slot < self.slots:
            raise IndexError(f"slot {slot} of an arena of {self.slots}")
        views: list[memoryview] = []
        for buffer in self._gate_up:
            half = len(buffer) // self.slots // 2
            start = slot * half * 2
            views += (buffer[start : start + half], buffer[start + half : start + 2 * half])
        for buffer in self._down:
            whole = len(buffer) // self.slots
            views.append(buffer[slot * whole : (slot + 1) * whole])
        return views


def _matrix(
    shape: RecordShape, slots: int, rows: int, words: int, groups: int
) -> tuple[Quantized, tuple[memoryview, ...]]:
    """A stack of quantised matrices and the bytes of its weight, scales and biases."""
    weight = mx.zeros((slots, rows, words), dtype=mx.uint32)
    scales = mx.zeros((slots, rows, groups), dtype=mx.uint16)
    biases = mx.zeros((slots, rows, groups), dtype=mx.uint16)
    mx.eval(weight, scales, biases)
    # bfloat16 arrays offer no buffer, so the bytes are taken from the uint16 arrays the views share.
    typed = scales.view(mx.bfloat16), biases.view(mx.bfloat16)
    mx.eval(*typed)
    quantized = Quantized(weight, *typed, group_size=shape.group_size, bits=shape.bits)
    return quantized, tuple(_bytes(array) for array in (weight, scales, biases))


def _bytes(array: mx.array) -> memoryview:
    """A writable view of an evaluated array's memory; it keeps the memory alive."""
    return memoryview(cast(bytearray, array)).cast("B")
