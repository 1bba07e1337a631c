"""The products of the Linux CPU: float32 activations on the published bytes."""

from __future__ import annotations

import threading

import mlx.core as mx
import numpy as np
import numpy.typing as npt

from engine.kernels.cpu.delta import gated_delta
from engine.kernels.cpu.experts import experts
from engine.kernels.cpu.linear import linear
from engine.kernels.cpu.packing import FORMATS, Packing, packing
from engine.kernels.cpu.views import packed
from engine.kernels.interface import Indices
from engine.kernels.mlx_kernels import MlxKernels
from engine.kernels.types import ExpertArrays, Quantized

Floats = npt.NDArray[np.float32]


def _floats(a: mx.array, *shape: int) -> Floats:
    """The values of `a`, evaluated; without a copy when it is float32 and contiguous."""
    return np.ascontiguousarray(np.asarray(a.astype(mx.float32))).reshape(shape)


def _fields(p: Packing) -> tuple[int, int, int, int]:
    return p.bits, p.group_size, p.lanes, p.product


def _covered(*matrices: Quantized) -> bool:
    return all((w.bits, w.group_size) in FORMATS for w in matrices)


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
        for kernel in (linear, experts, gated_delta):
            kernel.warm_up()

    def linear(self, x: mx.array, w: Quantized) -> mx.array:
        if not _covered(w):
            return self._mlx.linear(x.astype(mx.float32), w)
        rows = _floats(x, -1, w.in_features)
        y = np.empty((rows.shape[0], w.out_features), np.float32)
        with self._lock:
            linear(rows, *packed(w), y, *_fields(packing(w.bits, w.group_size)))
        return mx.array(y).reshape(*x.shape[:-1], w.out_features)

    def embed(self, ids: Indices, w: Quantized) -> mx.array:
        return self._mlx.embed(ids, w)

    def experts(self, x: mx.array, slots: Indices, arrays: ExpertArrays) -> mx.array:
        if not _covered(arrays.gate_up, arrays.down):
            return self._mlx.experts(x.astype(mx.float32), slots, arrays)
        tokens, per_token = slots.shape
        sources = np.repeat(np.arange(tokens), per_token)
        y = self._run(x, sources, slots.ravel(), np.arange(tokens * per_token + 1), arrays)
        return mx.array(y).reshape(tokens, per_token, -1)

    def grouped_experts(self, x: mx.array, slots: Indices, offsets: Indices, arrays: ExpertArrays) -> mx.array:
        if not _covered(arrays.gate_up, arrays.down):
            return self._mlx.grouped_experts(x.astype(mx.float32), slots, offsets, arrays)
        return mx.array(self._run(x, offsets[:-1], slots, offsets, arrays))

    def gated_delta(
        self, q: mx.array, k: mx.array, v: mx.array, g: mx.array, beta: mx.array, state: mx.array
    ) -> tuple[mx.array, mx.array]:
        tokens, heads, width = v.shape
        o = np.empty((tokens, heads, width), np.float32)
        new = _floats(state, *state.shape).copy()
        decay = _floats(g, tokens, heads, -1)
        inputs = (_floats(a, *a.shape) for a in (q, k, v))
        with self._lock:
            gated_delta(*inputs, decay, _floats(beta, tokens, heads), new, o)
        return mx.array(o), mx.array(new)

    def _run(
        self, x: mx.array, sources: npt.NDArray[np.integer], slots: Indices, offsets: npt.NDArray[np.integer],
        arrays: ExpertArrays,
    ) -> Floats:  # fmt: skip
        up, down = arrays.gate_up, arrays.down
        y = np.empty((int(offsets[-1]), down.out_features), np.float32)
        indices = (np.ascontiguousarray(a, np.int64) for a in (sources, slots, offsets))
        formats = (_fields(packing(m.bits, m.group_size)) for m in (up, down))
        with self._lock:
            experts(_floats(x, -1, up.in_features), *indices, *packed(up), *packed(down), y, *formats)
        return y
