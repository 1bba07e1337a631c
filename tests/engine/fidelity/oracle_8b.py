"""The 8B's family in mlx-lm, with the 8B release's rules, selection rendered in plain Python."""

from __future__ import annotations

from typing import Any

import mlx.core as mx
import numpy as np

from tests.engine.checkpoint.bailing_oracle import load
from tests.engine.fidelity.oracle import Array, Oracle, wrap


def select(
    logits: Array, k: int, groups: int, keep: int, scaling: float, bias: Array | None = None
) -> tuple[list[int], list[float]]:
    """One token's experts, best first, and their weights. logits [E] in float64 or float32."""
    score = [1 / (1 + np.exp(-value)) for value in logits]
    choice = [value + (0 if bias is None else bias[expert]) for expert, value in enumerate(score)]
    size = len(choice) // groups
    members = [range(group * size, group * size + size) for group in range(groups)]
    worth = [sum(sorted((choice[e] for e in group), reverse=True)[:2]) for group in members]
    best_groups = sorted(range(groups), key=lambda group: (-worth[group], group))[:keep]
    eligible = [e for group in best_groups for e in members[group]]
    experts = sorted(eligible, key=lambda e: (-choice[e], e))[:k]
    total = sum(score[e] for e in experts) + 1e-20
    return experts, [score[e] / total * scaling for e in experts]


class Oracle8B(Oracle):
    def load(self, adapted: bool) -> Any:
        factors = self.factors() if adapted else {}
        latent = {name: f for name, f in factors.items() if name.endswith("kv_b_proj")}
        model = load(
            self.path, self.k, {name: s * (b.astype(np.float64) @ a) for name, (a, b, s) in latent.items()}
        )
        for name in factors.keys() - latent.keys():
            wrap(model, name, factors[name])
        return model

    def blocks(self) -> Any:
        return self.model.layers

    def route(self, block: Any, x: mx.array) -> tuple[Array, Array]:
        logits = np.array(x.astype(mx.float32) @ block.gate.weight.T)[0]
        bias = np.array(block.gate.expert_bias)
        chosen = [self._select(row, bias) for row in logits]
        return np.stack([experts for experts, _ in chosen]), np.stack([weights for _, weights in chosen])

    def shared(self, block: Any, x: mx.array) -> mx.array:
        part: mx.array = block.shared_experts(x)
        return part

    def choose(self, logits: Array) -> tuple[Array, Array]:
        return self._select(logits, None)

    def shown(self, owner: int) -> Array:
        """The router's choice, whatever was executed."""
        return self.seen[owner][2]

    def consumes(self, layer: int) -> bool:
        return True

    def after_prompt(self, length: int) -> None:
        """The heads run on the last position; the release's last chunk of 2048 tells what came before it."""
        if length % 2048 != 1:
            self.before = {owner: self.shown(owner)[-2] for owner in self.heads}
        if self.heads:
            self.run_heads()

    def _select(self, logits: Array, bias: Array | None) -> tuple[Array, Array]:
        args = self.model.args
        experts, weights = select(logits, self.k, args.n_group, args.topk_group, args.routed_scaling_factor, bias)
        return np.array(experts), np.array(weights, dtype=np.float32)
