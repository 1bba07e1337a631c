"""The 35B's family in mlx-lm, with the 35B release's rules."""

from __future__ import annotations

import json
from typing import Any

import mlx.core as mx
import numpy as np
from mlx_lm.utils import load_model

from tests.engine.fidelity.oracle import Array, Oracle, wrap


class Oracle35B(Oracle):
    def load(self, adapted: bool) -> Any:
        text = json.loads((self.path / "config.json").read_text())["text_config"]
        text["num_experts_per_tok"] = self.k
        model = load_model(self.path, model_config={"text_config": text})[0]
        model.set_dtype(mx.float32)
        for name, factors in self.factors().items() if adapted else ():
            wrap(model, name, factors)
        return model

    def blocks(self) -> Any:
        return self.model.language_model.model.layers

    def route(self, block: Any, x: mx.array) -> tuple[Array, Array]:
        gates = np.array(mx.softmax(block.gate(x), axis=-1, precise=True))[0]
        best = np.argsort(-gates, axis=-1, kind="stable")[:, : self.k]
        weights = np.take_along_axis(gates, best, axis=-1)
        return best, weights / weights.sum(-1, keepdims=True)

    def shared(self, block: Any, x: mx.array) -> mx.array:
        part: mx.array = mx.sigmoid(block.shared_expert_gate(x)) * block.shared_expert(x)
        return part

    def choose(self, logits: Array) -> tuple[Array, Array]:
        share = np.exp(logits - logits.max())
        share /= share.sum()
        best = np.argsort(-share, kind="stable")[: self.k]
        return best, share[best] / share[best].sum()

    def shown(self, owner: int) -> Array:
        return self.seen[owner][1]

    def consumes(self, layer: int) -> bool:
        return layer < len(self.layers) - 1

    def after_prompt(self, length: int) -> None:
        """Only a prompt of one token passes as a decode step."""
        if length == 1:
            self.run_heads()
