"""Quantised products x · wᵀ on the CPU, straight from the packed words."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numba import prange

from engine.kernels.cpu.compiled import Kernel, helper
from engine.kernels.cpu.layout import prepare_row
from engine.kernels.cpu.tile import dot_tile, vector_shape

BLOCK = 32  # outputs of one task; with 4 rows of activations it fits the first- and second-level caches


@helper
def product_block(  # type: ignore[no-untyped-def]
    bits, group, y, y_row, rows, x, sums, x_row, w, scales, biases, matrix, first, last
) -> None:
    """y[y_row : y_row + rows, first:last] = x[x_row …] · w[matrix, first:last]ᵀ; bits and group are literals.

    y [·, out], x and sums as prepared, w uint32 [·, out, words], scales and biases uint16 [·, out, groups].
    """
    out = w.shape[1]
    words = w.shape[2]
    groups = scales.shape[2]
    lanes = sums.shape[1] // groups
    row = 0
    while row < rows:
        step = 4 if rows - row >= 4 else 1
        y_at = (y_row + row) * y.shape[1]
        x_at = (x_row + row) * x.shape[1]
        sums_at = (x_row + row) * groups * lanes
        o = first
        while o < last:
            w_at = (matrix * out + o) * words
            s_at = (matrix * out + o) * groups
            if step == 4 and last - o >= 2:
                dot_tile(bits, group, 4, 2, y, y_at + o, y.shape[1], w, w_at, words, scales, biases, s_at, groups,
                         x, x_at, sums, sums_at, groups)  # fmt: skip
                o += 2
            elif step == 4:
                dot_tile(bits, group, 4, 1, y, y_at + o, y.shape[1], w, w_at, words, scales, biases, s_at, groups,
                         x, x_at, sums, sums_at, groups)  # fmt: skip
                o += 1
            elif last - o >= 4:
                dot_tile(bits, group, 1, 4, y, y_at + o, y.shape[1], w, w_at, words, scales, biases, s_at, groups,
                         x, x_at, sums, sums_at, groups)  # fmt: skip
                o += 4
            else:
                dot_tile(bits, group, 1, 1, y, y_at + o, y.shape[1], w, w_at, words, scales, biases, s_at, groups,
                         x, x_at, sums, sums_at, groups)  # fmt: skip
                o += 1
        row += step


@lru_cache(maxsize=None)
def linear(bits: int, group: int) -> Kernel:
    """x float32 [R, in], w uint32 [1, out, words], scales and biases uint16 [1, out, groups] → y [R, out]."""
    lanes = vector_shape(bits, group)[1]

    def run(x: Any, w: Any, scales: Any, biases: Any, y: Any) -> None:
        rows = x.shape[0]
        out = w.shape[1]
        prepared = np.empty((rows, x.shape[1]), np.float32)
        sums = np.empty((rows, scales.shape[2] * lanes), np.float32)
        if rows < 8:
            for r in range(rows):
                prepare_row(x, r, bits, group, prepared, sums)
        else:
            for r in prange(rows):
                prepare_row(x, r, bits, group, prepared, sums)
        for block in prange((out + BLOCK - 1) // BLOCK):
            first = block * BLOCK
            product_block(bits, group, y, 0, rows, prepared, sums, 0, w, scales, biases, 0, first,
                          min(first + BLOCK, out))  # fmt: skip

    return Kernel(run, "void(f4[:,::1], u4[:,:,::1], u2[:,:,::1], u2[:,:,::1], f4[:,::1])")
