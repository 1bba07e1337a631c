"""Activations in the order in which the packed weights meet them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from engine.kernels.cpu.compiled import helper

Floats = npt.NDArray[np.float32]


@helper
def prepare_row(x: Floats, row: int, bits: int, group_size: int, prepared: Floats, sums: Floats) -> None:
    """One row of x [R, in] → prepared [R, in] and sums [R, in / group_size · lanes] for `tile.dot_tile`.

    Value i of word j meets x[j · per_word + i], so each group is stored value-major: all words' value 0, then
    all words' value 1, … each times 2^(−bits · i), which undoes the tile's masking in place. sums holds, per
    group and lane, the plain sum of the activations the lane meets.
    """
    per_word = 32 // bits
    words = group_size // per_word
    lanes = min(8, words)
    vectors = words // lanes
    for g in range(x.shape[1] // group_size):
        start = g * group_size
        for j in range(lanes):
            total = np.float32(0.0)
            for v in range(vectors):
                factor = np.float32(1.0)
                for i in range(per_word):
                    value = x[row, start + (v * lanes + j) * per_word + i]
                    total += value
                    if i == per_word - 1:  # the topmost value is shifted down
                        factor = np.float32(1.0)
                    prepared[row, start + (v * per_word + i) * lanes + j] = value * factor
                    factor *= np.float32(1.0 / (1 << bits))
            sums[row, g * lanes + j] = total
