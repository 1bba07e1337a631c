"""The whole network: embeddings, layers, final norm, logits at the positions asked for."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as fn

from training.config import NanoConfig
from training.model.mixers import attention, delta_net, rms
from training.model.moe import sparse_block
from training.model.params import HEAD, PREFIX, TOPIC, Params, layer


def trunk(c: NanoConfig, p: Params, ids: Tensor) -> tuple[Tensor, Tensor]:
    """ids ``[B,T]`` -> (normed hidden states ``[B,T,D]``, mean balance loss). T is a multiple of 32."""
    b, t = ids.shape
    x = fn.embedding(ids, p[f"{PREFIX}.embed_tokens.weight"])
    balance = x.new_zeros(())
    for i in range(c.layers):
        name = layer(i)
        h = rms(x, p[f"{name}.input_layernorm.weight"], c.eps)
        if c.is_attention(i):
            mixed = attention(c, p, f"{name}.self_attn", h)
        else:
            mixed = delta_net(c, p, f"{name}.linear_attn", h)
        x = x + mixed
        h = rms(x, p[f"{name}.post_attention_layernorm.weight"], c.eps).view(b * t, -1)
        y, aux = sparse_block(c, p, f"{name}.mlp", h)
        x = x + y.view(b, t, -1)
        balance = balance + aux
    return rms(x, p[f"{PREFIX}.norm.weight"], c.eps), balance / c.layers


def loss(c: NanoConfig, p: Params, ids: Tensor, wanted: Tensor, topic: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Cross entropy of the next id where ``wanted`` ``[B,T]`` marks the id to predict; of the topic; balance.

    The topic is guessed from the last hidden state before an answer (``topic`` ``[B,T]``, -1 elsewhere) by a
    head that exists in training only: a direct reason to understand the question.
    """
    hidden, balance = trunk(c, p, ids)
    chosen = wanted[:, 1:]
    words = fn.linear(hidden[:, :-1][chosen], p[f"{HEAD}.weight"])
    asked = topic >= 0
    guessed = fn.linear(hidden[asked], p[TOPIC])
    return fn.cross_entropy(words, ids[:, 1:][chosen]), fn.cross_entropy(guessed, topic[asked]), balance


def logits(c: NanoConfig, p: Params, ids: Tensor) -> Tensor:
    """Logits ``[B,T,V]`` for any length (padded inside to a multiple of 32)."""
    length = ids.shape[1]
    padded = fn.pad(ids, (0, -length % 32))
    with torch.no_grad():
        hidden, _ = trunk(c, p, padded)
    return fn.linear(hidden[:, :length], p[f"{HEAD}.weight"])
