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
    capture     layers whose last MoE input and whole route are kept
    ask_router  layers whose router is asked even where a prediction is used; its logits are kept, not waited for
    on_layer    called after each layer with its index; may raise Cancelled
    """

    prefill: bool
    predicted: dict[int, Route] = field(default_factory=dict)
    capture: frozenset[int] = frozenset()
    ask_router: frozenset[int] = frozenset()
    on_layer: Callable[[int], None] | None = None

    moe_inputs: dict[int, mx.array] = field(default_factory=dict)
    routes: dict[int, Route] = field(default_factory=dict)
    router_logits: dict[int, mx.array] = field(default_factory=dict)

    def done(self, layer: int) -> None:
        if self.on_layer is not None:
            self.on_layer(layer)
