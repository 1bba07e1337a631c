"""Activations in the order in which the packed weights meet them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import prange

from engine.kernels.cpu.compiled import Kernel, helper

SERIAL_WORK = 1 << 14  # values; fewer are prepared faster than another thread is woken


@helper
def _group(x: Any, glu: int, row: int, group: int, bits: int, group_size: int, prepared: Any, sums: Any) -> None:
    """One group of one row of x → prepared [R, in] and sums [R, in / group_size · lanes].

    Value i of word j meets x[j · per_word + i], so a group is stored value-major: all words' value 0, then all
    words' value 1, … each times 2^(−bits · i), which undoes the tile's masking in place. sums holds, per lane,
    the plain sum of the activations the lane meets.
    """
    per_word = 32 // bits
    words = group_size // per_word
    lanes = min(8, words)
    shrink = np.float32(1.0 / (1 << bits))
    start = group * group_size
    if glu:
        for i in range(start, start + group_size):
            gate = x[row, i]
            x[row, i] = gate / (np.float32(1.0) + np.exp(-gate)) * x[row, prepared.shape[1] + i]
    for lane in range(lanes):
        total = np.float32(0.0)
        for vector in range(words // lanes):
            factor = np.float32(1.0)
            source = start + (vector * lanes + lane) * per_word
            for i in range(per_word):
                value = x[row, source + i]
                total += value
                if i == per_word - 1:  # the topmost value is shifted down
                    factor = np.float32(1.0)
                prepared[row, start + (vector * per_word + i) * lanes + lane] = value * factor
                factor *= shrink
        sums[row, group * lanes + lane] = total


def _prepare(x: Any, glu: int, bits: int, group_size: int, prepared: Any, sums: Any) -> None:
    groups = prepared.shape[1] // group_size
    tasks = prepared.shape[0] * groups
    if prepared.size <= SERIAL_WORK:
        for task in range(tasks):
            _group(x, glu, task // groups, task % groups, bits, group_size, prepared, sums)
    else:
        for task in prange(tasks):
            _group(x, glu, task // groups, task % groups, bits, group_size, prepared, sums)


# All rows of x [R, in]; with glu of x [R, gate | up], where silu(gate) · up replaces the gate in place first.
prepare = Kernel(_prepare, "void(f4[:,::1], i8, i8, i8, f4[:,::1], f4[:,::1])")
