"""The published bytes of a quantised matrix as numpy arrays, without copying."""

from __future__ import annotations

import weakref
from typing import NamedTuple

import mlx.core as mx
import numpy as np
import numpy.typing as npt

from engine.kernels.types import Quantized


class Packed(NamedTuple):
    """weight uint32 [matrices, out, words], scales and biases: the bits of bfloat16 [matrices, out, groups]."""

    weight: npt.NDArray[np.uint32]
    scales: npt.NDArray[np.uint16]
    biases: npt.NDArray[np.uint16]


_known: dict[int, Packed] = {}


def packed(w: Quantized) -> Packed:
    """Views of w's memory, made once: they see what is later read into an arena slot.

    They are forgotten with `w`. The arrays of `w` must never be assigned to (`a[i] = v` moves an MLX array).
    """
    key = id(w)
    views = _known.get(key)
    if views is None:
        scales, biases = (_stacked(np.asarray(a.view(mx.uint16))) for a in (w.scales, w.biases))
        views = Packed(_stacked(np.asarray(w.weight)), scales, biases)
        _known[key] = views
        weakref.finalize(w, _known.pop, key, None)
    return views


def _stacked(a: npt.NDArray[np.generic]) -> npt.NDArray[np.generic]:
    """[…, out, n] → [matrices, out, n]."""
    return a.reshape(-1, *a.shape[-2:])
