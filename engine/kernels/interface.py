"""The one interface through which the models reach device-specific products."""

from __future__ import annotations

from typing import Protocol

import mlx.core as mx
import numpy as np
import numpy.typing as npt

from engine.kernels.types import ExpertArrays, Quantized

Indices = npt.NDArray[np.int32]


class Kernels(Protocol):
    """Quantised products and the delta recurrence of one device. Activations have `activation_dtype`."""

    name: str
    activation_dtype: mx.Dtype

    def warm_up(self) -> None:
        """Compile what the published checkpoints use, so that no reply waits for it."""

    def linear(self, x: mx.array, w: Quantized) -> mx.array:
        """x [..., in] → [..., out]: x · wᵀ."""

    def embed(self, ids: Indices, w: Quantized) -> mx.array:
        """ids [T] → the dequantised rows [T, hidden]."""

    def experts(self, x: mx.array, slots: Indices, arrays: ExpertArrays) -> mx.array:
        """x [T, hidden], slots [T, K] → [T, K, hidden]: down(silu(gate x) · up x) of every slot, unweighted.

        The caller weighs and sums in the router's order, so the result cannot depend on which experts
        happened to be resident.
        """

    def grouped_experts(self, x: mx.array, slots: Indices, offsets: Indices, arrays: ExpertArrays) -> mx.array:
        """x [R, hidden] with rows sorted by expert, slots [G], offsets [G + 1] → [R, hidden].

        Rows offsets[i] : offsets[i + 1] belong to slots[i]. An expert's rows are computed the same way
        whatever other experts share the call.
        """

    def stacked(self, x: mx.array, w: mx.array) -> mx.array:
        """x [N, in], w float16 [N, out, in] → [N, out]: x[n] · w[n]ᵀ, in float32 where activations are, else in
        float16."""

    def gated_delta(
        self, q: mx.array, k: mx.array, v: mx.array, g: mx.array, beta: mx.array, state: mx.array
    ) -> tuple[mx.array, mx.array]:
        """The gated delta rule over T tokens, in float32.

        q, k [T, Hk, Dk] (normalised and scaled by the caller), v [T, Hv, Dv] with Hv a multiple of Hk (key head
        h serves value heads h · Hv/Hk …), decay g [T, Hv] or per channel [T, Hv, Dk] (already exponentiated, in
        (0, 1]), beta [T, Hv], state [Hv, Dv, Dk] → (o [T, Hv, Dv], new state). Per token:
        S ← S · g; u = β (v − S k); S ← S + u kᵀ; o = S q. `state` is not modified.
        """
