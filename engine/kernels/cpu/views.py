"""The published bytes of a quantised matrix as numpy arrays, without copying."""

from __future__ import annotations

import weakref
from typing import NamedTuple, TypeVar

import mlx.core as mx
import numpy as np
import numpy.typing as npt

from engine.errors import EngineError
from engine.kernels.types import Quantized

T = TypeVar("T", bound=np.unsignedinteger)


class Packed(NamedTuple):
    """weight uint32 [matrices, out, words], scales and biases: the bits of bfloat16 [matrices, out, groups]."""

    weight: npt.NDArray[np.uint32]
    scales: npt.NDArray[np.uint16]
    biases: npt.NDArray[np.uint16]


_known: dict[int, Packed] = {}


def packed(w: Quantized) -> Packed:
    """Views of w's memory, made once: they see what is later read into an arena slot.

    They are forgotten with `w`. The arrays of `w` must never be assigned to (`a[i] = v` moves an MLX array).
    EngineError when they are not contiguous: a copy would not follow the arena.
    """
    key = id(w)
    views = _known.get(key)
    if views is None:
        weight = _stacked(w.weight, np.uint32)
        scales, biases = (_stacked(a.view(mx.uint16), np.uint16) for a in (w.scales, w.biases))
        views = Packed(weight, scales, biases)
        _known[key] = views
        weakref.finalize(w, _known.pop, key, None)
    return views


def _stacked(a: mx.array, kind: type[T]) -> npt.NDArray[T]:
    """[…, out, n] → [matrices, out, n], sharing memory."""
    view: npt.NDArray[T] = np.asarray(a)
    if view.dtype != kind or not view.flags.c_contiguous:
        raise EngineError(f"Packed weights must be contiguous {kind.__name__}, not {view.dtype} of {view.strides}.")
    return view.reshape(-1, *view.shape[-2:])
