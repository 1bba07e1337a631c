"""The mixture-of-experts block: route, wait for what is not in memory yet, weigh, sum."""

from __future__ import annotations

from collections.abc import Callable

import mlx.core as mx
import numpy as np

from engine.experts.streamer import ExpertStreamer
from engine.kernels.interface import Kernels
from engine.models.blocks import last_rows
from engine.models.linear import Linear
from engine.models.routing import Indices, Route, Select
from engine.models.step import Step


class MoeBlock:
    """Routed experts plus the shared one, over x [T, hidden]."""

    def __init__(
        self,
        layer: int,
        kernels: Kernels,
        experts: ExpertStreamer,
        router: Callable[[mx.array], mx.array],
        select: Select,
        shared: Callable[[mx.array], mx.array],
    ) -> None:
        self.layer, self.kernels, self.experts = layer, kernels, experts
        self.router, self.select, self.shared = router, select, shared

    def __call__(self, x: mx.array, step: Step) -> mx.array:
        route = step.predicted.get(self.layer)
        if route is None:
            route = self.select(np.asarray(self.router(x).astype(mx.float32)))
        elif self.layer in step.ask_router:
            step.router_logits[self.layer] = self.router(x)
        if self.layer in step.capture:
            step.moe_inputs[self.layer] = last_rows(x, 1)[0]
            step.routes[self.layer] = route
            if step.prefill:
                mx.eval(step.moe_inputs[self.layer])  # until then the whole chunk's inputs stay in memory
        if step.prefill:
            routed, shared = self._prefill(x, route), self.shared(x)
        else:
            routed, shared = self._decode(x, route)
        weights = mx.array(route.weights).astype(routed.dtype)
        return mx.sum(routed * weights[:, :, None], axis=1).astype(x.dtype) + shared

    def _decode(self, x: mx.array, route: Route) -> tuple[mx.array, mx.array]:
        """One token: compute what is here while the rest is being read."""
        ticket = self.experts.request(self.layer, route.experts[0].tolist())
        arrays = self.experts.arena.arrays
        shared = self.shared(x)
        here = np.flatnonzero(ticket.ready)
        if len(here) == len(ticket.slots):
            return self.kernels.experts(x, ticket.slots[None], arrays), shared
        parts = [self.kernels.experts(x, ticket.slots[None, here], arrays)] if len(here) else []
        mx.async_eval(shared, *parts)  # type: ignore[no-untyped-call]
        ticket.wait()
        missing = np.setdiff1d(np.arange(len(ticket.slots)), here)
        parts.append(self.kernels.experts(x, ticket.slots[None, missing], arrays))
        order = np.argsort(np.concatenate([here, missing]))
        return mx.concatenate(parts, axis=1)[:, mx.array(order)], shared

    def _prefill(self, x: mx.array, route: Route) -> mx.array:
        """Many tokens: rows sorted by expert, each expert in memory once. → [T, K, hidden]."""
        tokens, k = route.experts.shape
        flat = route.experts.reshape(-1)
        order = np.argsort(flat, kind="stable")
        ids, starts, counts = np.unique(flat[order], return_index=True, return_counts=True)
        first = dict(zip(ids.tolist(), zip(starts.tolist(), counts.tolist(), strict=True), strict=True))
        outputs: list[mx.array] = []
        places: list[Indices] = []
        for group in self.experts.prefill_layer(self.layer, ids.astype(np.int32), counts.astype(np.int32)):
            spans = [first[expert] for expert in group.experts.tolist()]
            rows = np.concatenate([order[start : start + count] for start, count in spans]).astype(np.int32)
            offsets = np.concatenate([[0], np.cumsum([count for _, count in spans])]).astype(np.int32)
            y = self.kernels.grouped_experts(x[mx.array(rows // k)], group.slots, offsets, group.arrays)
            mx.eval(y)  # the staging slots may be overwritten once the next group is asked for
            outputs.append(y)
            places.append(rows)
        back = np.argsort(np.concatenate(places)).astype(np.int32)
        return mx.concatenate(outputs, axis=0)[mx.array(back)].reshape(tokens, k, -1)


def float32_router(weight: mx.array) -> Callable[[mx.array], mx.array]:
    """Logits as x · weightᵀ in float32, for a router stored in plain floats [experts, hidden]."""

    def apply(x: mx.array) -> mx.array:
        return x.astype(mx.float32) @ weight.T

    return apply


def gated(shared: Callable[[mx.array], mx.array], gate: Linear) -> Callable[[mx.array], mx.array]:
    """shared(x) · sigmoid(gate(x)), the gate being one number per token."""

    def apply(x: mx.array) -> mx.array:
        return shared(x) * mx.sigmoid(gate(x))

    return apply
