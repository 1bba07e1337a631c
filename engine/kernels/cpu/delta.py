"""The gated delta rule, token after token, in float32."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import prange

from engine.kernels.cpu.compiled import Kernel

BLOCK = 16  # state rows of one task


def _gated_delta(q: Any, k: Any, v: Any, g: Any, beta: Any, state: Any, new: Any, o: Any) -> None:
    tokens, heads, width = v.shape
    keys, depth = q.shape[1], q.shape[2]
    blocks = (width + BLOCK - 1) // BLOCK
    shared = heads // keys
    per_channel = g.shape[2] > 1
    for task in prange(heads * blocks):
        head = task // blocks
        first = (task % blocks) * BLOCK
        for row in range(first, min(first + BLOCK, width)):
            s = new[head, row]
            for d in range(depth):
                s[d] = state[head, row, d]
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


# q, k [T, Hk, Dk], v [T, Hv, Dv], g [T, Hv, 1 or Dk], beta [T, Hv], state [Hv, Dv, Dk] → new state, o [T, Hv, Dv].
# The rows of a head's state never meet: row i only needs v[i]. So tasks are blocks of rows of one head, and a
# row stays in the first-level cache for all tokens.
_CUBE = "f4[:,:,::1]"
gated_delta = Kernel(
    _gated_delta,
    f"void({_CUBE}, {_CUBE}, {_CUBE}, {_CUBE}, f4[:,::1], {_CUBE}, {_CUBE}, {_CUBE})",
    fastmath={"reassoc", "contract", "nsz"},
)
