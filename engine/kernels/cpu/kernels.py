"""The products of the Linux CPU: float32 activations on the published bytes."""

from __future__ import annotations

import threading
from typing import NamedTuple

import mlx.core as mx
import numpy as np
import numpy.typing as npt

from engine.kernels.cpu.delta import gated_delta
from engine.kernels.cpu.halves import half_products
from engine.kernels.cpu.layout import prepare
from engine.kernels.cpu.packing import FORMATS, packing
from engine.kernels.cpu.runs import block_size, products
from engine.kernels.cpu.views import packed
from engine.kernels.interface import Indices
from engine.kernels.mlx_kernels import MlxKernels
from engine.kernels.types import ExpertArrays, Quantized

Floats = npt.NDArray[np.float32]
Positions = npt.NDArray[np.int64]


class Runs(NamedTuple):
    """Rows offsets[g] : offsets[g + 1] of a result come from the rows from sources[g] on, through slots[g]."""

    offsets: Positions
    sources: Positions
    slots: Positions

    @classmethod
    def of(cls, offsets: npt.ArrayLike, sources: npt.ArrayLike, slots: npt.ArrayLike) -> Runs:
        return cls(*(np.ascontiguousarray(a, np.int64) for a in (offsets, sources, slots)))


_FIRST = np.zeros(1, np.int64)


def _floats(a: mx.array, *shape: int) -> Floats:
    """The values of `a`, evaluated; without a copy when it is float32 and contiguous."""
    values = np.asarray(a if a.dtype == mx.float32 else a.astype(mx.float32))
    return np.ascontiguousarray(values).reshape(shape)


def _covered(*matrices: Quantized) -> bool:
    return all((w.bits, w.group_size) in FORMATS for w in matrices)


def _product(x: Floats, runs: Runs, w: Quantized, *, glu: bool = False) -> Floats:
    """The runs of x [·, in], or of silu(gate) · up for x [·, gate | up], through w → [R, out]."""
    form = packing(w.bits, w.group_size)
    prepared = np.empty((x.shape[0], w.in_features), np.float32)
    sums = np.empty((x.shape[0], w.in_features // w.group_size * form.lanes), np.float32)
    prepare(x, int(glu), w.bits, w.group_size, prepared, sums)
    y = np.empty((int(runs.offsets[-1]), w.out_features), np.float32)
    products(y, *runs, prepared, sums, *packed(w), form.product, block_size(w.out_features))
    return y


class CpuKernels:
    """`Kernels` compiled for this processor. Other packings than 4 and 8 bits go through MLX.

    A row's result is the same bit for bit whatever else is in the call and however many threads there are.
    """

    name = "cpu"
    activation_dtype = mx.float32

    def __init__(self) -> None:
        self._mlx = MlxKernels(mx.float32)
        self._lock = threading.Lock()  # the thread layer aborts the process when entered twice

    def warm_up(self) -> None:
        """Compiles (or loads) what the published checkpoints use."""
        for bits in (4, 8):
            packing(bits, 64)
        for kernel in (prepare, products, half_products, gated_delta):
            kernel.warm_up()

    def linear(self, x: mx.array, w: Quantized) -> mx.array:
        if not _covered(w):
            return self._mlx.linear(x.astype(mx.float32), w)
        rows = _floats(x, -1, w.in_features)
        with self._lock:
            y = _product(rows, Runs(np.array([0, len(rows)]), _FIRST, _FIRST), w)
        return mx.array(y.reshape(*x.shape[:-1], w.out_features))

    def embed(self, ids: Indices, w: Quantized) -> mx.array:
        return self._mlx.embed(ids, w)

    def experts(self, x: mx.array, slots: Indices, arrays: ExpertArrays) -> mx.array:
        if not _covered(arrays.gate_up, arrays.down):
            return self._mlx.experts(x.astype(mx.float32), slots, arrays)
        tokens, per_token = slots.shape
        sources = np.repeat(np.arange(tokens), per_token)
        y = self._experts(x, Runs.of(np.arange(slots.size + 1), sources, slots.ravel()), arrays)
        return mx.array(y.reshape(tokens, per_token, -1))

    def grouped_experts(self, x: mx.array, slots: Indices, offsets: Indices, arrays: ExpertArrays) -> mx.array:
        if not _covered(arrays.gate_up, arrays.down):
            return self._mlx.grouped_experts(x.astype(mx.float32), slots, offsets, arrays)
        return mx.array(self._experts(x, Runs.of(offsets, offsets[:-1], slots), arrays))

    def stacked(self, x: mx.array, w: mx.array) -> mx.array:
        y = np.empty(w.shape[:2], np.float32)
        with self._lock:
            half_products(_floats(x, *x.shape), np.asarray(w).view(np.uint16), y)
        return mx.array(y)

    def gated_delta(
        self, q: mx.array, k: mx.array, v: mx.array, g: mx.array, beta: mx.array, state: mx.array
    ) -> tuple[mx.array, mx.array]:
        tokens, heads, width = v.shape
        o = np.empty((tokens, heads, width), np.float32)
        new = np.empty(state.shape, np.float32)
        inputs = [_floats(a, *a.shape) for a in (q, k, v)]
        decay, strength = _floats(g, tokens, heads, -1), _floats(beta, tokens, heads)
        with self._lock:
            gated_delta(*inputs, decay, strength, _floats(state, *state.shape), new, o)
        return mx.array(o), mx.array(new)

    def _experts(self, x: mx.array, runs: Runs, arrays: ExpertArrays) -> Floats:
        rows = _floats(x, -1, arrays.gate_up.in_features)
        inner = runs._replace(sources=runs.offsets[:-1])
        with self._lock:
            both = _product(rows, runs, arrays.gate_up)
            return _product(both, inner, arrays.down, glu=True)
