"""Quantised products x · wᵀ, straight from the packed words."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import prange

from engine.kernels.cpu.compiled import Kernel
from engine.kernels.cpu.layout import prepare
from engine.kernels.cpu.product import call_product

BLOCK = 32  # outputs of one task; with four rows of activations it fits the first- and second-level caches
SERIAL_ROWS = 8  # fewer rows are prepared faster than threads are woken


def _linear(
    x: Any, w: Any, scales: Any, biases: Any, y: Any, bits: int, group_size: int, lanes: int, product: int
) -> None:
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
        call_product(product, y, 0, rows, prepared, sums, 0, w, scales, biases, 0, first, last)


# x float32 [R, in], w uint32 [1, out, words], scales and biases uint16 [1, out, groups] → y [R, out]
linear = Kernel(_linear, "void(f4[:,::1], u4[:,:,::1], u2[:,:,::1], u2[:,:,::1], f4[:,::1], i8, i8, i8, i8)")
