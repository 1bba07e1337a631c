"""A loaded model: token ids in, logits of the last position out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import mlx.core as mx
import numpy as np
import numpy.typing as npt

from engine.models.blocks import rms_norm
from engine.models.cache import ModelState, Recurrent, TokenCache
from engine.models.linear import Linear
from engine.models.routing import Floats, Route
from engine.models.step import Step


class Mixer(Protocol):
    def fresh_state(self) -> TokenCache | Recurrent: ...


class Layer(Protocol):
    @property
    def mixer(self) -> Mixer: ...

    def __call__(self, x: mx.array, state: TokenCache | Recurrent, step: Step) -> mx.array: ...


@dataclass
class Model:
    """Embedding, layers, final norm and head. `linears` maps canonical module names to adaptable projections;
    `select` is the routers' rule, which the heads' predictions follow too."""

    embed: Callable[[npt.NDArray[np.int32]], mx.array]
    layers: Sequence[Layer]
    norm: mx.array
    eps: float
    head: Linear
    linears: dict[str, Linear]
    select: Callable[[Floats], Route]

    def fresh_state(self) -> ModelState:
        return ModelState([layer.mixer.fresh_state() for layer in self.layers])

    def forward(self, ids: Sequence[int], state: ModelState, step: Step) -> mx.array:
        """ids [T] → logits [vocab] of the last one, lazily; `state` moves on by T tokens.

        On `Cancelled` the state is half moved: the caller restores the snapshot it took before.
        """
        x = self.embed(np.asarray(ids, dtype=np.int32))
        for index, (layer, layer_state) in enumerate(zip(self.layers, state.layers, strict=True)):
            x = layer(x, layer_state, step)
            if step.prefill:
                mx.eval(x)  # keeps one layer's intermediates alive at a time
            step.done(index)
        state.length += len(ids)
        return self.head(rms_norm(x[-1:], self.norm, self.eps))[0]
