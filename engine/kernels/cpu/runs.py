"""Products of runs of rows with the matrices they belong to, spread over the threads."""

from __future__ import annotations

from typing import Any

from numba import prange

from engine.kernels.cpu import compiled
from engine.kernels.cpu.compiled import Kernel, helper
from engine.kernels.cpu.product import call_product

SMALLEST, LARGEST = 16, 128  # outputs of one task; packed weights of the largest fit the second-level cache
SERIAL_WORK = 1 << 20  # multiplications; fewer are done faster than another thread is woken


def block_size(out: int) -> int:
    """Outputs per task: at least four tasks a thread, and as few passes over the activations as that allows."""
    even = -(-out // (4 * compiled.threads))
    return max(SMALLEST, min(LARGEST, -(-even // 4) * 4))


@helper
def _block(
    y: Any, offsets: Any, sources: Any, slots: Any, x: Any, sums: Any, w: Any, scales: Any, biases: Any,
    product: int, first: int, last: int,
) -> None:  # fmt: skip
    for g in range(slots.shape[0]):
        call_product(
            product, y, offsets[g], offsets[g + 1] - offsets[g], x, sums, sources[g], w, scales, biases, slots[g],
            first, last,
        )  # fmt: skip


def _products(
    y: Any, offsets: Any, sources: Any, slots: Any, x: Any, sums: Any, w: Any, scales: Any, biases: Any,
    product: int, size: int,
) -> None:  # fmt: skip
    out = y.shape[1]
    if y.size * x.shape[1] <= SERIAL_WORK:
        _block(y, offsets, sources, slots, x, sums, w, scales, biases, product, 0, out)
    else:
        for block in prange((out + size - 1) // size):
            first = block * size
            last = min(first + size, out)
            _block(y, offsets, sources, slots, x, sums, w, scales, biases, product, first, last)


# Run g multiplies the rows of x [·, in] (prepared, with sums) from sources[g] on by matrix slots[g] of w
# [matrices, out, words], scales and biases [matrices, out, groups], into rows offsets[g] : offsets[g + 1] of
# y [R, out]; product is the packing's function, size from `block_size`. Every task is a block of outputs for
# all runs: the work is even however unequal the runs are.
_WEIGHTS = "u4[:,:,::1], u2[:,:,::1], u2[:,:,::1]"
products = Kernel(
    _products,
    f"void(f4[:,::1], i8[::1], i8[::1], i8[::1], f4[:,::1], f4[:,::1], {_WEIGHTS}, i8, i8)",
)
