"""Whole experts, down(silu(gate x) · up x), on runs of rows that share a slot."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numba import prange

from engine.kernels.cpu.compiled import Kernel
from engine.kernels.cpu.emit import vector_shape
from engine.kernels.cpu.layout import prepare
from engine.kernels.cpu.linear import BLOCK, SERIAL_ROWS
from engine.kernels.cpu.product import product_block


@cache
def experts(up_bits: int, up_group: int, down_bits: int, down_group: int) -> Kernel:
    """x [T, hidden], sources, slots [G], offsets [G + 1], gate_up and down as 3 arrays each → y [R, hidden].

    Run g takes the rows of x from sources[g] on, as many as offsets[g + 1] − offsets[g], through the expert in
    slots[g], into y[offsets[g] :]. Tasks are blocks of outputs, and every task serves all runs: the work is
    spread evenly however unequal the runs are.
    """
    up_lanes = vector_shape(up_bits, up_group)[1]
    down_lanes = vector_shape(down_bits, down_group)[1]

    def run(
        x: Any, sources: Any, slots: Any, offsets: Any, up_w: Any, up_s: Any, up_b: Any,
        down_w: Any, down_s: Any, down_b: Any, y: Any,
    ) -> None:  # fmt: skip
        tokens, runs, rows = x.shape[0], slots.shape[0], y.shape[0]
        inner, out = up_w.shape[1] // 2, y.shape[1]
        prepared = np.empty(x.shape, np.float32)
        sums = np.empty((tokens, up_s.shape[2] * up_lanes), np.float32)
        if tokens < SERIAL_ROWS:
            prepare(x, 0, tokens, up_bits, up_group, prepared, sums)
        else:
            for t in prange(tokens):
                prepare(x, t, t + 1, up_bits, up_group, prepared, sums)

        both = np.empty((rows, 2 * inner), np.float32)  # gate, then up
        for block in prange((inner + BLOCK - 1) // BLOCK):
            first = block * BLOCK
            last = min(first + BLOCK, inner)
            for g in range(runs):
                row, count = offsets[g], offsets[g + 1] - offsets[g]
                for half in range(0, 2 * inner, inner):
                    product_block(
                        up_bits, up_group, both, row, count, prepared, sums, sources[g], up_w, up_s, up_b, slots[g],
                        first + half, last + half,
                    )  # fmt: skip
                for r in range(row, row + count):
                    for i in range(first, last):
                        gate = both[r, i]
                        both[r, i] = gate / (np.float32(1.0) + np.exp(-gate)) * both[r, inner + i]

        hidden = np.empty((rows, inner), np.float32)
        hidden_sums = np.empty((rows, down_s.shape[2] * down_lanes), np.float32)
        if rows < SERIAL_ROWS:
            prepare(both, 0, rows, down_bits, down_group, hidden, hidden_sums)
        else:
            for r in prange(rows):
                prepare(both, r, r + 1, down_bits, down_group, hidden, hidden_sums)

        for block in prange((out + BLOCK - 1) // BLOCK):
            first = block * BLOCK
            for g in range(runs):
                product_block(
                    down_bits, down_group, y, offsets[g], offsets[g + 1] - offsets[g], hidden, hidden_sums,
                    offsets[g], down_w, down_s, down_b, slots[g], first, min(first + BLOCK, out),
                )  # fmt: skip

    weights = "u4[:,:,::1], u2[:,:,::1], u2[:,:,::1]"
    return Kernel(run, f"void(f4[:,::1], i8[::1], i8[::1], i8[::1], {weights}, {weights}, f4[:,::1])")
