"""A loaded model: token ids in, logits of the last position out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import mlx.core as mx
import numpy as np
import numpy.typing as npt

from engine.models.blocks import rms_norm
from engine.models.cache import ModelState
from engine.models.layer import Layer
from engine.models.linear import Adaptable, Linear
from engine.models.routing import Select
from engine.models.step import Step


@dataclass
class Model:
    """Embedding, layers, final norm and head.

    linears  canonical module → adaptable projection
    routers  layer with experts → what its router selects from its own logits
    """

    embed: Callable[[npt.NDArray[np.int32]], mx.array]
    layers: Sequence[Layer]
    norm: mx.array
    eps: float
    head: Linear
    linears: Mapping[str, Adaptable]
    routers: Mapping[int, Select]

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
                mx.eval(x, layer_state.arrays())  # keeps one layer's intermediates alive at a time
            step.done(index)
        state.length += len(ids)
        return self.head(rms_norm(x[-1:], self.norm, self.eps))[0]
