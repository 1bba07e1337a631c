"""The products through MLX's own quantised kernels: what Metal uses, and what the rest is compared with."""

from __future__ import annotations

import mlx.core as mx
import numpy as np

from engine.kernels.interface import Indices
from engine.kernels.mlx_delta import gated_delta
from engine.kernels.types import ExpertArrays, Quantized


class MlxKernels:
    """`Kernels` on MLX's default device. On Metal in bfloat16; on the CPU in float32, where it is slow."""

    def __init__(self, activation_dtype: mx.Dtype) -> None:
        self.name = "mlx"
        self.activation_dtype = activation_dtype

    def warm_up(self) -> None:
        """Nothing to do: MLX's kernels come compiled."""

    def linear(self, x: mx.array, w: Quantized) -> mx.array:
        scales, biases = w.scales.astype(x.dtype), w.biases.astype(x.dtype)
        return mx.quantized_matmul(
            x, w.weight, scales, biases, transpose=True, group_size=w.group_size, bits=w.bits
        )  # fmt: skip

    def embed(self, ids: Indices, w: Quantized) -> mx.array:
        rows = mx.array(ids)
        scales, biases = (a[rows].astype(self.activation_dtype) for a in (w.scales, w.biases))
        return mx.dequantize(w.weight[rows], scales, biases, group_size=w.group_size, bits=w.bits)

    def experts(self, x: mx.array, slots: Indices, arrays: ExpertArrays) -> mx.array:
        index = mx.array(slots)
        return self._expert(x[:, None, None, :], index, arrays, sorted_indices=False).squeeze(-2)

    def grouped_experts(self, x: mx.array, slots: Indices, offsets: Indices, arrays: ExpertArrays) -> mx.array:
        index = np.repeat(slots, np.diff(offsets))
        order = np.argsort(index, kind="stable")  # MLX's grouped kernel relies on ascending slots
        ascending = bool((order[1:] > order[:-1]).all())
        if not ascending:
            x, index = x[mx.array(order)], index[order]
        y = self._expert(x[:, None, :], mx.array(index), arrays, sorted_indices=True).squeeze(-2)
        return y if ascending else y[mx.array(np.argsort(order))]

    def stacked(self, x: mx.array, w: mx.array) -> mx.array:
        dtype = mx.float32 if self.activation_dtype == mx.float32 else mx.float16
        return (x.astype(dtype)[:, None, :] @ w.astype(dtype).swapaxes(1, 2))[:, 0]

    def gated_delta(
        self, q: mx.array, k: mx.array, v: mx.array, g: mx.array, beta: mx.array, state: mx.array
    ) -> tuple[mx.array, mx.array]:
        return gated_delta(q, k, v, g, beta, state)

    def _expert(self, x: mx.array, index: mx.array, arrays: ExpertArrays, *, sorted_indices: bool) -> mx.array:
        both = self._gathered(x, index, arrays.gate_up, sorted_indices)
        gate, up = mx.split(both, 2, axis=-1)
        return self._gathered(gate * mx.sigmoid(gate) * up, index, arrays.down, sorted_indices)

    def _gathered(self, x: mx.array, index: mx.array, w: Quantized, sorted_indices: bool) -> mx.array:
        return mx.gather_qmm(
            x, w.weight, w.scales.astype(x.dtype), w.biases.astype(x.dtype), rhs_indices=index, transpose=True,
            group_size=w.group_size, bits=w.bits, sorted_indices=sorted_indices,
        )  # fmt: skip
