"""Activations in the order in which the packed weights meet them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from engine.kernels.cpu.compiled import helper

Floats = npt.NDArray[np.float32]


@helper
def prepare(x: Floats, first: int, last: int, bits: int, group_size: int, prepared: Floats, sums: Floats) -> None:
    """Rows first : last of x [R, ≥ in] → prepared [R, in] and sums [R, in / group_size · lanes] for the tiles.

    Value i of word j meets x[j · per_word + i], so each group is stored value-major: all words' value 0, then
    all words' value 1, … each times 2^(−bits · i), which undoes the tile's masking in place. sums holds, per
    group and lane, the plain sum of the activations the lane meets.
    """
    per_word = 32 // bits
    words = group_size // per_word
    lanes = min(8, words)
    shrink = np.float32(1.0 / (1 << bits))
    for row in range(first, last):
        for group in range(prepared.shape[1] // group_size):
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
