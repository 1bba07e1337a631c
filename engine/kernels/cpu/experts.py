"""Whole experts, down(silu(gate x) · up x), on runs of rows that share a slot."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import prange

from engine.kernels.cpu.compiled import Kernel
from engine.kernels.cpu.layout import prepare
from engine.kernels.cpu.linear import BLOCK
from engine.kernels.cpu.product import call_product


def _experts(
    x: Any, sources: Any, slots: Any, offsets: Any, up_w: Any, up_s: Any, up_b: Any, down_w: Any, down_s: Any,
    down_b: Any, y: Any, up: Any, down: Any,
) -> None:  # fmt: skip
    up_bits, up_group, up_lanes, up_product = up
    down_bits, down_group, down_lanes, down_product = down
    tokens, runs, rows = x.shape[0], slots.shape[0], y.shape[0]
    inner, out = up_w.shape[1] // 2, y.shape[1]
    prepared = np.empty(x.shape, np.float32)
    sums = np.empty((tokens, up_s.shape[2] * up_lanes), np.float32)
    for t in prange(tokens):
        prepare(x, t, t + 1, up_bits, up_group, prepared, sums)

    both = np.empty((rows, 2 * inner), np.float32)  # gate, then up; later the hidden row, then up
    for block in prange((inner + BLOCK - 1) // BLOCK):
        first = block * BLOCK
        last = min(first + BLOCK, inner)
        for g in range(runs):
            row, count = offsets[g], offsets[g + 1] - offsets[g]
            for half in range(0, 2 * inner, inner):
                call_product(
                    up_product, both, row, count, prepared, sums, sources[g], up_w, up_s, up_b, slots[g],
                    first + half, last + half,
                )  # fmt: skip
            for r in range(row, row + count):
                for i in range(first, last):
                    gate = both[r, i]
                    both[r, i] = gate / (np.float32(1.0) + np.exp(-gate)) * both[r, inner + i]

    hidden = np.empty((rows, inner), np.float32)
    hidden_sums = np.empty((rows, down_s.shape[2] * down_lanes), np.float32)
    for r in prange(rows):
        prepare(both, r, r + 1, down_bits, down_group, hidden, hidden_sums)

    for block in prange((out + BLOCK - 1) // BLOCK):
        first = block * BLOCK
        for g in range(runs):
            call_product(
                down_product, y, offsets[g], offsets[g + 1] - offsets[g], hidden, hidden_sums, offsets[g], down_w,
                down_s, down_b, slots[g], first, min(first + BLOCK, out),
            )  # fmt: skip


# x [T, hidden], sources, slots [G], offsets [G + 1], gate_up and down as three arrays each → y [R, hidden], with
# (bits, group size, lanes, product) of both. Run g takes the rows of x from sources[g] on, as many as
# offsets[g + 1] − offsets[g], through the expert in slots[g], into y[offsets[g] :]. Every task is a block of
# outputs for all runs, so the work is spread evenly however unequal the runs are.
_WEIGHTS = "u4[:,:,::1], u2[:,:,::1], u2[:,:,::1]"
_PACKING = "UniTuple(i8, 4)"
experts = Kernel(
    _experts, f"void(f4[:,::1], i8[::1], i8[::1], i8[::1], {_WEIGHTS}, {_WEIGHTS}, f4[:,::1], {_PACKING}, {_PACKING})"
)
