"""The network as it will run: half width, and at decode the routes that heads predicted one token before.

A head looks one layer and one token back, so what layer N + 1 executes depends only on what layer N did at earlier
positions: going through the layers one after another, all positions at once, gives exactly what decoding token by
token gives. ``tests/training/test_recipe.py`` compares it with the engine.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor
from torch.nn import functional as fn

from training.config import NanoConfig
from training.model.mixers import attention, delta_net, rms
from training.model.moe import routed
from training.model.params import HEAD, PREFIX, Params, layer
from training.recipe.heads import Heads, features, predicted


@dataclass
class Seen:
    """By layer: MoE inputs ``[B,T,D]``, executed experts ``[B,T,K]``, the router's probabilities ``[B,T,E]``."""

    inputs: dict[int, Tensor] = field(default_factory=dict)
    used: dict[int, Tensor] = field(default_factory=dict)
    router: dict[int, Tensor] = field(default_factory=dict)


def trunk(c: NanoConfig, p: Params, ids: Tensor, start: Tensor, heads: Heads | None, seen: Seen | None) -> Tensor:
    """ids ``[B,T]`` (T a multiple of 32), start ``[B]`` (the prompts' lengths) -> normed hidden states ``[B,T,D]``.

    Without ``heads`` every layer is on its own router. ``seen`` collects what heads learn from.
    """
    x = fn.embedding(ids, p[f"{PREFIX}.embed_tokens.weight"])
    coming: tuple[Tensor, Tensor] | None = None
    for i in range(c.layers):
        name = layer(i)
        h = rms(x, p[f"{name}.input_layernorm.weight"], c.eps)
        mix, part = (attention, "self_attn") if c.is_attention(i) else (delta_net, "linear_attn")
        x = x + mix(c, p, f"{name}.{part}", h)
        h = rms(x, p[f"{name}.post_attention_layernorm.weight"], c.eps)
        probs = fn.linear(h, p[f"{name}.mlp.gate.weight"]).softmax(-1)
        top, used = probs.topk(c.top_k, -1)
        weights = top / top.sum(-1, keepdim=True)
        if coming is not None:
            known = _predicted_at(start, ids.shape[1])
            used, weights = torch.where(known, coming[0], used), torch.where(known, coming[1], weights)
        x = x + _experts(c, p, f"{name}.mlp", h, used, weights)
        if seen is not None:
            seen.inputs[i], seen.used[i], seen.router[i] = h.detach(), used, probs.detach()
        coming = None
        if heads is not None and i in heads.owners:
            with torch.no_grad():
                coming = predicted(c, heads, i, features(c, h, used, start))
    return rms(x, p[f"{PREFIX}.norm.weight"], c.eps)


def _predicted_at(start: Tensor, length: int) -> Tensor:
    """``[B,T,1]``: positions with a prediction: heads see single tokens only, so the first decoded one has none."""
    return (torch.arange(length) > start[:, None])[..., None]


def _experts(c: NanoConfig, p: Params, name: str, h: Tensor, used: Tensor, weights: Tensor) -> Tensor:
    b, t, d = h.shape
    x = h.view(b * t, d)
    out = routed(c, p, name, x, used.reshape(b * t, -1), weights.reshape(b * t, -1))
    e = f"{name}.shared_expert"
    hidden = fn.silu(fn.linear(x, p[f"{e}.gate_proj.weight"])) * fn.linear(x, p[f"{e}.up_proj.weight"])
    shared = fn.linear(hidden, p[f"{e}.down_proj.weight"])
    out = out + fn.linear(x, p[f"{name}.shared_expert_gate.weight"]).sigmoid() * shared
    return out.view(b, t, d)


def words(p: Params, hidden: Tensor, asked: Tensor) -> Tensor:
    """Log-probabilities ``[N,V]`` at the positions ``asked`` ``[B,T]``."""
    return fn.linear(hidden[asked], p[f"{HEAD}.weight"]).log_softmax(-1)
