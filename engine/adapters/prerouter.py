"""The prerouter: small heads that say, one token ahead, which experts each layer will need.

The head of owner layer N reads, after the step of token t, the layer's MoE input and the experts used there for
tokens t and t − 1, and gives the logits of layer N + 1's experts for token t + 1 (a shift of one layer and one
token). What it selects replaces the router.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import mlx.core as mx
import numpy as np

from engine.adapters.rules import Rules
from engine.kernels.interface import Kernels
from engine.models.routing import Floats, Indices, Route, one_hot_set


@dataclass(frozen=True)
class Heads:
    """All heads stacked in the order of `owners`, in float16.

    fc1 [N, width, hidden + 2 · experts], fc2 [N, experts, width], linear [N, experts, hidden + 2 · experts]
    """

    kernels: Kernels
    owners: tuple[int, ...]
    experts: int
    fc1: mx.array
    fc2: mx.array
    linear: mx.array

    @property
    def nbytes(self) -> int:
        return self.fc1.nbytes + self.fc2.nbytes + self.linear.nbytes

    def logits(self, moe_inputs: mx.array, now: Floats, before: Floats) -> mx.array:
        """moe_inputs [N, hidden], one-hot sets now and before [N, experts] → logits [N, experts].

        linear(f) + fc2(gelu(fc1(f))) with the exact erf GELU; features are rounded to float16 as in the release.
        """
        hot = mx.array(np.concatenate([now, before], axis=-1))
        features = mx.concatenate([moe_inputs.astype(mx.float16), hot.astype(mx.float16)], axis=-1)
        product = self.kernels.stacked
        hidden = product(features, self.fc1)
        hidden = hidden * 0.5 * (1 + mx.erf(hidden * (0.5**0.5)))
        return (product(features, self.linear) + product(hidden, self.fc2)).astype(mx.float32)


class Prerouter:
    """Predictions of one reply. `reset` before each; `observe` after each single-token step."""

    def __init__(self, heads: Heads, consumers: frozenset[int], rules: Rules) -> None:
        self.heads, self.consumers, self.rules = heads, consumers, rules
        self._before: Indices | None = None
        self.predicted: dict[int, Route] = {}

    @property
    def owners(self) -> frozenset[int]:
        return frozenset(self.heads.owners)

    def reset(self) -> None:
        """Forget predictions and both one-hot histories."""
        self._before = None
        self.predicted = {}

    def remember(self, used: Mapping[int, Indices]) -> None:
        """The experts [1, K] by owner layer of the token before the one `observe` will be given."""
        self._before = np.concatenate([used[owner] for owner in self.heads.owners])

    def observe(self, moe_inputs: Mapping[int, mx.array], used: Mapping[int, Indices]) -> dict[int, Route]:
        """What the step that just ended shows at the owner layers → routes for the next token by layer.

        moe_inputs: owner → [hidden]; used: owner → experts [1, K], whose is a matter of the rules.
        """
        owners = self.heads.owners
        now = one_hot_set(np.concatenate([used[owner] for owner in owners]), self.heads.experts)
        before = np.zeros_like(now) if self._before is None else one_hot_set(self._before, self.heads.experts)
        inputs = mx.stack([moe_inputs[owner] for owner in owners])
        chosen = self.rules.select(np.asarray(self.heads.logits(inputs, now, before)))
        self.remember(used)
        self.predicted = {
            owner + 1: Route(chosen.experts[i : i + 1], chosen.weights[i : i + 1])
            for i, owner in enumerate(owners)
            if owner + 1 in self.consumers
        }
        return self.predicted
