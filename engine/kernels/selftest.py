"""Run once on a machine: does its device compute the gathered products correctly?

MLX up to 0.30.4 returned wrong numbers on some Apple devices without any error. What cannot be tried where this
project is built is tried here, against numpy.
"""

from __future__ import annotations

import mlx.core as mx
import numpy as np
import numpy.typing as npt

from engine.errors import EngineError
from engine.kernels import reference, sample
from engine.kernels.interface import Kernels
from engine.kernels.select import check_mlx, mlx_version

HIDDEN, INTERMEDIATE, SLOTS = 512, 256, 8
TOLERANCE = {mx.float32: 3e-3, mx.bfloat16: 5e-2}  # Metal's float32 product is itself 7e-4 from float64


def _compare(name: str, got: mx.array, wanted: npt.NDArray[np.float64], tolerance: float) -> None:
    error = float(np.abs(np.array(got.astype(mx.float32)) - wanted).max() / np.abs(wanted).max())
    if not error <= tolerance:  # also when it is NaN
        raise EngineError(
            f"This device computes {name} wrongly with MLX {mlx_version()} (relative error {error:.1e}).",
            "Update MLX; until then nothing generated here could be trusted.",
        )


def run(kernels: Kernels) -> None:
    """Raises EngineError when a product is off by more than the device's rounding explains."""
    check_mlx()
    tolerance = TOLERANCE[kernels.activation_dtype]
    keys = mx.random.split(mx.random.key(7), 3)
    w = sample.matrix((HIDDEN, HIDDEN), keys[0])
    arrays = sample.experts(SLOTS, HIDDEN, INTERMEDIATE, keys[1])
    x = mx.random.normal((64, HIDDEN), key=keys[2]).astype(kernels.activation_dtype)
    exact = np.array(x.astype(mx.float32), np.float64)
    for rows in (1, 64):
        wanted = exact[:rows] @ reference.dequantise(w).T
        _compare("quantised products", kernels.linear(x[:rows], w), wanted, tolerance)
    slots = np.array([[6, 1, 3, 0], [2, 7, 6, 5]], np.int32)
    wanted = np.stack([[reference.expert(exact[t : t + 1], arrays, s)[0] for s in slots[t]] for t in range(2)])
    _compare("the experts of a token", kernels.experts(x[:2], slots, arrays), wanted, tolerance)
    group, offsets = np.array([5, 0, 3], np.int32), np.array([0, 30, 31, 64], np.int32)
    runs = zip(group, offsets[:-1], offsets[1:], strict=True)
    wanted = np.concatenate([reference.expert(exact[a:b], arrays, int(s)) for s, a, b in runs])
    _compare("grouped experts", kernels.grouped_experts(x, group, offsets, arrays), wanted, tolerance)
