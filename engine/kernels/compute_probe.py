"""How long one product takes on this machine, for estimates of the speed."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

import mlx.core as mx
import numpy as np

from engine.kernels import sample
from engine.kernels.interface import Kernels

FOOTPRINT = 64 << 20  # bytes cycled through, so that weights come from memory and not from a cache
REPEATS = 12


@dataclass(frozen=True)
class ComputeSpeed:
    """Median seconds with weights resident in memory, one row of activations."""

    linear_s: float  # one [out, hidden] product
    linear_weights: int
    expert_s: float  # one expert, as part of a token's `per_token` experts
    expert_weights: int


def _median(run: Callable[[int], mx.array]) -> float:
    times = []
    for i in range(REPEATS + 2):
        start = time.perf_counter()
        mx.eval(run(i))
        times.append(time.perf_counter() - start)
    return statistics.median(times[2:])  # the first ones compile and touch memory


def _linear(kernels: Kernels, x: mx.array, out: int, key: mx.array) -> float:
    hidden = x.shape[-1]
    count = max(2, FOOTPRINT // (out * hidden * 9 // 16))
    matrices = [sample.matrix((out, hidden), part) for part in mx.random.split(key, count)]
    return _median(lambda i: kernels.linear(x, matrices[i % count]))


def probe(kernels: Kernels, hidden: int, intermediate: int, out: int, per_token: int) -> ComputeSpeed:
    """Measures a [out, hidden] product and a token's `per_token` experts, both in 4 bits."""
    keys = mx.random.split(mx.random.key(1), 3)
    x = mx.random.normal((1, hidden), key=keys[0]).astype(kernels.activation_dtype)
    mx.eval(x)
    linear_s = _linear(kernels, x, out, keys[1])
    expert_weights = 3 * hidden * intermediate
    slots = per_token * max(2, FOOTPRINT // (expert_weights * 9 // 16 * per_token))
    arrays = sample.experts(slots, hidden, intermediate, keys[2])
    chosen = np.arange(slots, dtype=np.int32).reshape(-1, 1, per_token)
    expert_s = _median(lambda i: kernels.experts(x, chosen[i % len(chosen)], arrays)) / per_token
    return ComputeSpeed(linear_s, out * hidden, expert_s, expert_weights)
