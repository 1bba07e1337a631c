"""The gated delta rule, token after token, in float32."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numba import prange

from engine.kernels.cpu.compiled import Kernel

BLOCK = 16  # state rows of one task


@cache
def gated_delta() -> Kernel:
    """q, k [T, Hk, Dk], v [T, Hv, Dv], g [T, Hv, 1 or Dk], beta [T, Hv] → o [T, Hv, Dv]; state in place.

    The rows of a head's state [Dv, Dk] never meet: row i only needs v[i], so tasks are blocks of rows of one
    head, and a row stays in the first-level cache for all tokens.
    """

    def run(q: Any, k: Any, v: Any, g: Any, beta: Any, state: Any, o: Any) -> None:
        tokens, heads, width = v.shape
        keys, depth = q.shape[1], q.shape[2]
        blocks = (width + BLOCK - 1) // BLOCK
        shared = heads // keys
        per_channel = g.shape[2] > 1
        for task in prange(heads * blocks):
            head = task // blocks
            first = (task % blocks) * BLOCK
            for row in range(first, min(first + BLOCK, width)):
                s = state[head, row]
                for t in range(tokens):
                    key, query = k[t, head // shared], q[t, head // shared]
                    seen = np.float32(0.0)
                    if per_channel:
                        decay = g[t, head]
                        for d in range(depth):
                            s[d] *= decay[d]
                            seen += s[d] * key[d]
                    else:
                        factor = g[t, head, 0]
                        for d in range(depth):
                            s[d] *= factor
                            seen += s[d] * key[d]
                    u = beta[t, head] * (v[t, head, row] - seen)
                    out = np.float32(0.0)
                    for d in range(depth):
                        s[d] += u * key[d]
                        out += s[d] * query[d]
                    o[t, head, row] = out

    floats = "f4[:,:,::1]"
    return Kernel(run, f"void({floats}, {floats}, {floats}, {floats}, f4[:,::1], {floats}, {floats})",
                  fastmath={"reassoc", "contract", "nsz"})  # fmt: skip
