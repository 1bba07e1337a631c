"""Products with matrices stored in float16: half the memory and half the traffic of float32."""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import prange, types
from numba.extending import intrinsic

from engine.kernels.cpu.compiled import Kernel, helper
from engine.kernels.cpu.emit import F32, I32

BLOCK = 32  # outputs of one task
SERIAL_WORK = 1 << 20  # as in runs.py


@intrinsic
def _widened(typing_context, word):  # type: ignore[no-untyped-def]
    """The float32 of a float16's bits. Exponent and fraction are moved into place and rescaled, which holds for
    subnormal numbers as well; there is no instruction for it that every processor has."""

    def generate(context: Any, b: Any, sig: Any, args: Any) -> Any:
        bits = b.zext(args[0], I32)
        magnitude = b.bitcast(b.shl(b.and_(bits, ir.Constant(I32, 0x7FFF)), ir.Constant(I32, 13)), F32)
        scaled = b.bitcast(b.fmul(magnitude, ir.Constant(F32, 2.0**112)), I32)
        sign = b.shl(b.and_(bits, ir.Constant(I32, 0x8000)), ir.Constant(I32, 16))
        return b.bitcast(b.or_(scaled, sign), F32)

    return types.float32(word), generate


@helper
def _task(task: int, x: Any, w: Any, y: Any) -> None:
    out, inner = w.shape[1], w.shape[2]
    blocks = (out + BLOCK - 1) // BLOCK
    matrix, first = task // blocks, task % blocks * BLOCK
    for row in range(first, min(first + BLOCK, out)):
        total = np.float32(0.0)
        for i in range(inner):
            total += x[matrix, i] * _widened(w[matrix, row, i])
        y[matrix, row] = total


def _half_products(x: Any, w: Any, y: Any) -> None:
    tasks = w.shape[0] * ((w.shape[1] + BLOCK - 1) // BLOCK)
    if w.size <= SERIAL_WORK:
        for task in range(tasks):
            _task(task, x, w, y)
    else:
        for task in prange(tasks):
            _task(task, x, w, y)


# y[n] = w[n] · x[n] for x [N, in], the bits of float16 w [N, out, in], y [N, out]
half_products = Kernel(
    _half_products, "void(f4[:,::1], u2[:,:,::1], f4[:,::1])", fastmath={"reassoc", "contract", "nsz"}
)
