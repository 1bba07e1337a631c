"""What travels through the layers beside the hidden state during one forward pass."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import mlx.core as mx

from engine.models.routing import Route


class Cancelled(Exception):  # noqa: N818  # not an error: the user asked
    """Raised between two layers when the user asked to stop."""


@dataclass
class Step:
    """One forward pass. `prefill` decides how experts reach memory, not what is computed.

    predicted   layer → route that replaces the router's (single-token steps only)
    prefetched  layers whose reads were already ordered
    capture     keep, for the heads, the last token's MoE input and route per owner layer
    measure     also ask the true router where a prediction is used
    on_layer    called after each layer with its index; may raise Cancelled
    """

    prefill: bool
    predicted: dict[int, Route] = field(default_factory=dict)
    capture: frozenset[int] = frozenset()
    measure: bool = False
    on_layer: Callable[[int], None] | None = None

    moe_inputs: dict[int, mx.array] = field(default_factory=dict)
    routes: dict[int, Route] = field(default_factory=dict)
    true_logits: dict[int, mx.array] = field(default_factory=dict)

    def done(self, layer: int) -> None:
        if self.on_layer is not None:
            self.on_layer(layer)
