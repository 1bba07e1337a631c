"""Activations in the order in which the packed weights meet them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import prange

from engine.kernels.cpu.compiled import Kernel, helper


@helper
def prepare_group(x: Any, row: int, group: int, bits: int, group_size: int, prepared: Any, sums: Any) -> None:
    """One group of one row of x [R, ≥ in] → prepared [R, in] and sums [R, in / group_size · lanes].

    Value i of word j meets x[j · per_word + i], so a group is stored value-major: all words' value 0, then all
    words' value 1, … each times 2^(−bits · i), which undoes the tile's masking in place. sums holds, per lane,
    the plain sum of the activations the lane meets.
    """
    per_word = 32 // bits
    words = group_size // per_word
    lanes = min(8, words)
    shrink = np.float32(1.0 / (1 << bits))
    start = group * group_size
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
    inner = prepared.shape[1]
    groups = inner // group_size
    for task in prange(prepared.shape[0] * groups):
        row, group = task // groups, task % groups
        if glu:
            for i in range(group * group_size, (group + 1) * group_size):
                gate = x[row, i]
                x[row, i] = gate / (np.float32(1.0) + np.exp(-gate)) * x[row, inner + i]
        prepare_group(x, row, group, bits, group_size, prepared, sums)


# All rows of x [R, in]; with glu of x [R, gate | up], where silu(gate) · up replaces the gate in place first.
prepare = Kernel(_prepare, "void(f4[:,::1], i8, i8, i8, f4[:,::1], f4[:,::1])")
