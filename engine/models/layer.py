"""A decoder layer of either family: a token mixer, then a feed-forward block, each on normed input and added."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import mlx.core as mx

from engine.models.blocks import guard, rms_norm
from engine.models.cache import Recurrent, TokenCache
from engine.models.step import Step

MIXER_BLOCK = 128
"""Prompt tokens mixed at once. Mixing holds some 60,000 numbers per token, more than all experts of a token."""

FeedForward = Callable[[mx.array, Step], mx.array]
"""x [T, hidden], the step → [T, hidden]."""


class Mixer(Protocol):
    """Attention or a recurrence: x [T, hidden] and its own kind of state, which moves on by T tokens."""

    def fresh_state(self) -> TokenCache | Recurrent: ...

    def __call__(self, x: mx.array, state: Any, /) -> mx.array: ...


@dataclass(frozen=True)
class Layer:
    mixer: Mixer
    mlp: FeedForward
    input_norm: mx.array
    post_norm: mx.array
    eps: float

    def __call__(self, x: mx.array, state: TokenCache | Recurrent, step: Step) -> mx.array:
        h = x + self._mixed(rms_norm(x, self.input_norm, self.eps), state)
        return guard(h + self.mlp(rms_norm(h, self.post_norm, self.eps), step))

    def _mixed(self, x: mx.array, state: TokenCache | Recurrent) -> mx.array:
        """The mixer over x [T, hidden], block after block: states carry over, so only its intermediates shrink."""
        if x.shape[0] <= MIXER_BLOCK:
            return self.mixer(x, state)
        parts = []
        for start in range(0, x.shape[0], MIXER_BLOCK):
            parts.append(self.mixer(x[start : start + MIXER_BLOCK], state))
            mx.eval(parts[-1], state.arrays())
        return mx.concatenate(parts)


def dense(mlp: Callable[[mx.array], mx.array]) -> FeedForward:
    """A block without experts, which nothing about the step concerns."""

    def apply(x: mx.array, step: Step) -> mx.array:
        return mlp(x)

    return apply
