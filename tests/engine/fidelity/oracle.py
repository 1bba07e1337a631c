"""Independent renderings of the model: mlx-lm's own classes, and the release's additions around them.

Nothing here uses the engine's maths; files are read with safetensors' own reader.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import erf, sqrt
from pathlib import Path
from typing import Any

import mlx.core as mx
import mlx.nn as nn
import numpy as np
import numpy.typing as npt
from mlx_lm.models.cache import make_prompt_cache
from mlx_lm.utils import load_model
from safetensors import safe_open
from safetensors.numpy import load_file
from tokenizers import Tokenizer

Array = npt.NDArray[Any]
gelu = np.vectorize(lambda value: value * 0.5 * (1 + erf(value / sqrt(2))))


class WithAdapter(nn.Module):  # type: ignore[name-defined, misc]
    """A projection plus its unmerged low-rank update."""

    def __init__(self, base: Any, a: Array, b: Array, scale: float) -> None:
        super().__init__()
        self.base, self.scale = base, scale
        self.a, self.b = mx.array(a.astype(np.float32)), mx.array(b.astype(np.float32))

    def __call__(self, x: mx.array) -> mx.array:
        y: mx.array = self.base(x) + self.scale * ((x @ self.a.T) @ self.b.T)
        return y


class Rerouted(nn.Module):  # type: ignore[name-defined, misc]
    """mlx-lm's expert block with its routing open to inspection and replacement."""

    def __init__(self, block: Any, layer: int, oracle: Oracle) -> None:
        super().__init__()
        self.block, self.layer = block, layer
        self._oracle = [oracle]  # in a list, so that it is no child module

    def __call__(self, x: mx.array) -> mx.array:
        oracle, block = self._oracle[0], self.block
        gates = np.array(mx.softmax(block.gate(x), axis=-1, precise=True))[0]
        k = oracle.k
        true = np.argsort(-gates, axis=-1, kind="stable")[:, :k]
        weights = np.take_along_axis(gates, true, axis=-1)
        weights = weights / weights.sum(-1, keepdims=True)
        used = true
        if oracle.decoding and self.layer in oracle.predicted:
            used, weights = oracle.predicted[self.layer]
            oracle.agreements.append(len(set(used[0]) & set(true[0])) / k)
        if x.shape[1] == 1:
            oracle.seen[self.layer] = np.array(x)[0, -1], used[-1]
        y = (block.switch_mlp(x, mx.array(used[None])) * mx.array(weights[None, ..., None])).sum(axis=-2)
        total: mx.array = y + mx.sigmoid(block.shared_expert_gate(x)) * block.shared_expert(x)
        return total


@dataclass
class Oracle:
    """A whole reply by mlx-lm in float32: K as told, the adapter wrapped around, heads by their published rules."""

    path: Path
    k: int
    predict: bool = False
    decoding: bool = False
    predicted: dict[int, tuple[Array, Array]] = field(default_factory=dict)
    seen: dict[int, tuple[Array, Array]] = field(default_factory=dict)
    before: dict[int, Array] = field(default_factory=dict)
    agreements: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        text = json.loads((self.path / "config.json").read_text())["text_config"]
        text["num_experts_per_tok"] = self.k
        self.model: Any = load_model(self.path, model_config={"text_config": text})[0]
        self.model.set_dtype(mx.float32)
        for file in self.path.glob("lora_*.safetensors"):
            self._adapt(file)
        # Logit rows beyond the tokenizer's ids stand for nothing and are never chosen.
        self.usable = Tokenizer.from_file(str(self.path / "tokenizer.json")).get_vocab_size()
        self.layers = self.model.language_model.model.layers
        for index, layer in enumerate(self.layers):
            layer.mlp = Rerouted(layer.mlp, index, self)
        self.heads: dict[int, dict[str, Array]] = {}
        for file in self.path.glob("prerouter_*.safetensors"):
            for name, value in load_file(file).items():
                _, owner, part, _ = name.split(".")
                self.heads.setdefault(int(owner), {})[part] = value.astype(np.float64)

    def _adapt(self, file: Path) -> None:
        with safe_open(file, framework="numpy") as opened:
            meta = json.loads(opened.metadata()["__metadata__"])
        tensors = load_file(file)
        scale = float(meta["alpha"]) / float(meta["r"])
        for name in {name.rsplit(".", 1)[0] for name in tensors}:
            *parents, last = name.split(".")
            owner: Any = self.model
            for part in parents:
                owner = owner[int(part)] if part.isdigit() else getattr(owner, part)
            wrapped = WithAdapter(getattr(owner, last), tensors[f"{name}.lora_A"], tensors[f"{name}.lora_B"], scale)
            setattr(owner, last, wrapped)

    def logits(self, prompt: Sequence[int], then: Sequence[int] = ()) -> list[Array]:
        """Logits after the prompt and after each of the `then` tokens."""
        cache = make_prompt_cache(self.model)
        rows = [self._forward(list(prompt), cache)]
        return rows + [self._forward([token], cache) for token in then]

    def greedy(self, prompt: Sequence[int], count: int) -> list[int]:
        """`count` greedy ids, with the heads deciding from the second decode step on if `predict`."""
        self.predicted, self.seen, self.before, self.agreements = {}, {}, {}, []
        cache = make_prompt_cache(self.model)
        self.decoding = False
        row = self._forward(list(prompt), cache)
        if len(prompt) == 1:
            self._run_heads()
        self.decoding = self.predict
        out: list[int] = []
        while True:
            out.append(int(row[: self.usable].argmax()))
            if len(out) == count:
                return out
            row = self._forward([out[-1]], cache)
            self._run_heads()

    def _forward(self, ids: list[int], cache: list[Any]) -> Array:
        return np.array(self.model(mx.array([ids]), cache=cache)[0, -1])

    def _run_heads(self) -> None:
        experts = len(next(iter(self.heads.values()))["fc2"]) if self.heads else 0
        for owner, head in self.heads.items():
            x, used = self.seen[owner]
            now, before = np.zeros(experts), np.zeros(experts)
            now[used] = 1
            if owner in self.before:
                before[self.before[owner]] = 1
            self.before[owner] = used
            f = np.concatenate([x, now, before]).astype(np.float16).astype(np.float64)
            logits = head["linear_init"] @ f + head["fc2"] @ gelu(head["fc1"] @ f)
            share = np.exp(logits - logits.max())
            share /= share.sum()
            best = np.argsort(-share, kind="stable")[: self.k]
            if owner + 1 < len(self.layers) - 1:
                weights = share[best] / share[best].sum()
                self.predicted[owner + 1] = best[None], weights[None].astype(np.float32)
