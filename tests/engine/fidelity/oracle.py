"""Independent renderings of the models: mlx-lm's own classes, and the releases' additions around them.

Nothing here uses the engine's maths; files are read with safetensors' own reader. `oracle_35b` and `oracle_8b` say
what differs.
"""

from __future__ import annotations

import importlib
import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from math import erf, sqrt
from pathlib import Path
from typing import Any

import mlx.core as mx
import numpy as np
import numpy.typing as npt
from mlx_lm.models.cache import make_prompt_cache
from safetensors import safe_open
from safetensors.numpy import load_file
from tokenizers import Tokenizer

Array = npt.NDArray[Any]
Module: Any = importlib.import_module("mlx.nn").Module  # MLX ships no complete types for it
gelu = np.vectorize(lambda value: value * 0.5 * (1 + erf(value / sqrt(2))))


class WithAdapter(Module):  # type: ignore[misc]
    """A projection plus its unmerged low-rank update."""

    def __init__(self, base: Any, a: Array, b: Array, scale: float) -> None:
        super().__init__()
        self.base, self.scale = base, scale
        self.a, self.b = mx.array(a.astype(np.float32)), mx.array(b.astype(np.float32))

    def __call__(self, x: mx.array) -> mx.array:
        y: mx.array = self.base(x) + self.scale * ((x @ self.a.T) @ self.b.T)
        return y


class Rerouted(Module):  # type: ignore[misc]
    """mlx-lm's expert block with its routing open to inspection and replacement."""

    def __init__(self, block: Any, layer: int, oracle: Oracle) -> None:
        super().__init__()
        self.block, self.layer = block, layer
        self._oracle = [oracle]  # in a list, so that it is no child module

    def __call__(self, x: mx.array) -> mx.array:
        oracle, block = self._oracle[0], self.block
        true, weights = oracle.route(block, x)
        used = true
        if oracle.decoding and self.layer in oracle.predicted:
            used, weights = oracle.predicted[self.layer]
            oracle.agreements.append(len(set(used[0]) & set(true[0])) / oracle.k)
        oracle.seen[self.layer] = np.array(x)[0, -1], used, true
        routed = block.switch_mlp(x, mx.array(used[None])) * mx.array(weights[None, ..., None])
        y: mx.array = routed.sum(axis=-2) + oracle.shared(block, x)
        return y


class Oracle(ABC):
    """A whole reply by mlx-lm in float32: K as told, the adapter wrapped around, heads by their published rules."""

    def __init__(self, path: Path, k: int, predict: bool = False, adapted: bool = True) -> None:
        self.path, self.k, self.predict = path, k, predict
        self.decoding = False
        self.predicted: dict[int, tuple[Array, Array]] = {}
        self.seen: dict[int, tuple[Array, Array, Array]] = {}  # layer → last input, experts used, router's experts
        self.before: dict[int, Array] = {}
        self.agreements: list[float] = []
        self.model: Any = self.load(adapted)
        # Logit rows beyond the tokenizer's ids stand for nothing and are never chosen.
        self.usable = Tokenizer.from_file(str(path / "tokenizer.json")).get_vocab_size()
        self.layers = self.blocks()
        for index, layer in enumerate(self.layers):
            if hasattr(layer.mlp, "switch_mlp"):
                layer.mlp = Rerouted(layer.mlp, index, self)
        self.heads: dict[int, dict[str, Array]] = {}
        for file in path.glob("prerouter_*.safetensors"):
            for name, value in load_file(file).items():
                _, owner, part, _ = name.split(".")
                self.heads.setdefault(int(owner), {})[part] = value.astype(np.float64)

    @abstractmethod
    def load(self, adapted: bool) -> Any:
        """mlx-lm's model in float32, with the adapter's share."""

    @abstractmethod
    def blocks(self) -> Any:
        """The model's layers."""

    @abstractmethod
    def route(self, block: Any, x: mx.array) -> tuple[Array, Array]:
        """What a router chooses for x [1, T, hidden] → experts and weights [T, K]."""

    @abstractmethod
    def shared(self, block: Any, x: mx.array) -> mx.array:
        """The shared expert's part."""

    @abstractmethod
    def choose(self, logits: Array) -> tuple[Array, Array]:
        """What a head's logits [E] choose → experts and weights [K]."""

    @abstractmethod
    def shown(self, owner: int) -> Array:
        """The experts [T, K] of the last forward pass that one-hot sets show."""

    @abstractmethod
    def consumes(self, layer: int) -> bool:
        """Whether the layer executes what is predicted for it."""

    @abstractmethod
    def after_prompt(self, length: int) -> None:
        """Let the heads see as much of the prompt as the release does."""

    def factors(self) -> dict[str, tuple[Array, Array, float]]:
        """A, B and scale by module, as in the adapter files beside the weights."""
        found = {}
        for file in self.path.glob("lora_*.safetensors"):
            with safe_open(file, framework="numpy") as opened:
                meta = json.loads(opened.metadata()["__metadata__"])
            tensors = load_file(file)
            scale = float(meta["alpha"]) / float(meta["r"])
            for name in {name.rsplit(".", 1)[0] for name in tensors}:
                found[name] = tensors[f"{name}.lora_A"], tensors[f"{name}.lora_B"], scale
        return found

    def logits(self, prompt: Sequence[int], then: Sequence[int] = ()) -> list[Array]:
        """Logits after the prompt and after each of the `then` tokens."""
        cache = make_prompt_cache(self.model)
        rows = [self._forward(list(prompt), cache)]
        return rows + [self._forward([token], cache) for token in then]

    def greedy(self, prompt: Sequence[int], count: int) -> list[int]:
        """`count` greedy ids, with the heads deciding if `predict`."""
        self.predicted, self.seen, self.before, self.agreements = {}, {}, {}, []
        cache = make_prompt_cache(self.model)
        self.decoding = False
        row = self._forward(list(prompt), cache)
        self.after_prompt(len(prompt))
        self.decoding = self.predict
        out: list[int] = []
        while True:
            out.append(int(row[: self.usable].argmax()))
            if len(out) == count:
                return out
            row = self._forward([out[-1]], cache)
            self.run_heads()

    def run_heads(self) -> None:
        """What the heads say after the last forward pass, of its last position."""
        for owner, head in self.heads.items():
            experts = len(head["fc2"])
            now, before = np.zeros(experts), np.zeros(experts)
            now[self.shown(owner)[-1]] = 1
            if owner in self.before:
                before[self.before[owner]] = 1
            self.before[owner] = self.shown(owner)[-1]
            f = np.concatenate([self.seen[owner][0], now, before]).astype(np.float16).astype(np.float64)
            best, weights = self.choose(head["linear_init"] @ f + head["fc2"] @ gelu(head["fc1"] @ f))
            if self.consumes(owner + 1):
                self.predicted[owner + 1] = best[None], weights[None].astype(np.float32)

    def _forward(self, ids: list[int], cache: list[Any]) -> Array:
        return np.array(self.model(mx.array([ids]), cache=cache)[0, -1])


def wrap(model: Any, name: str, factors: tuple[Array, Array, float]) -> None:
    """Put an adapter's share around the projection called `name`."""
    *parents, last = name.split(".")
    owner = model
    for part in parents:
        owner = owner[int(part)] if part.isdigit() else getattr(owner, part)
    setattr(owner, last, WithAdapter(getattr(owner, last), *factors))
