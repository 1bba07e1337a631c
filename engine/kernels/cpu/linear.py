"""Quantised products x · wᵀ, straight from the packed words."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numba import prange

from engine.kernels.cpu.compiled import Kernel
from engine.kernels.cpu.emit import vector_shape
from engine.kernels.cpu.layout import prepare
from engine.kernels.cpu.product import product_block

BLOCK = 32  # outputs of one task; with four rows of activations it fits the first- and second-level caches
SERIAL_ROWS = 8  # fewer rows are prepared faster than threads are woken


@cache
def linear(bits: int, group_size: int) -> Kernel:
    """x float32 [R, in], w uint32 [1, out, words], scales and biases uint16 [1, out, groups] → y [R, out]."""
    lanes = vector_shape(bits, group_size)[1]

    def run(x: Any, w: Any, scales: Any, biases: Any, y: Any) -> None:
        rows, out = y.shape
        prepared = np.empty(x.shape, np.float32)
        sums = np.empty((rows, scales.shape[2] * lanes), np.float32)
        if rows < SERIAL_ROWS:
            prepare(x, 0, rows, bits, group_size, prepared, sums)
        else:
            for row in prange(rows):
                prepare(x, row, row + 1, bits, group_size, prepared, sums)
        for block in prange((out + BLOCK - 1) // BLOCK):
            first = block * BLOCK
            last = min(first + BLOCK, out)
            product_block(
                bits, group_size, y, 0, rows, prepared, sums, 0, w, scales, biases, 0, first, last
            )  # fmt: skip

    return Kernel(run, "void(f4[:,::1], u4[:,:,::1], u2[:,:,::1], u2[:,:,::1], f4[:,::1])")
