"""The sparse block: softmax top-k router with renormalisation, routed experts, gated shared expert."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as fn

from training.config import NanoConfig
from training.model.experts import Dispatch, GroupedGLU, Permute
from training.model.params import Params


def route(c: NanoConfig, p: Params, name: str, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """x ``[T,D]`` -> (probabilities ``[T,E]``, chosen experts ``[T,K]``, their weights ``[T,K]``, sum 1)."""
    probs = fn.linear(x, p[f"{name}.gate.weight"]).softmax(-1)
    top, chosen = probs.topk(c.top_k, -1)
    return probs, chosen, top / top.sum(-1, keepdim=True)


def routed(c: NanoConfig, p: Params, name: str, x: Tensor, chosen: Tensor, weights: Tensor) -> Tensor:
    """Weighted sum of the chosen experts for every row. x ``[T,D]`` -> ``[T,D]``."""
    flat = chosen.reshape(-1)
    order = flat.argsort(stable=True)
    inverse = torch.empty_like(order)
    inverse[order] = torch.arange(order.numel())
    counts = torch.bincount(flat, minlength=c.experts).tolist()
    s = f"{name}.switch_mlp"
    y = GroupedGLU.apply(
        Dispatch.apply(x, order, inverse, c.top_k),
        p[f"{s}.gate_proj.weight"],
        p[f"{s}.up_proj.weight"],
        p[f"{s}.down_proj.weight"],
        counts,
    )
    y = Permute.apply(y, inverse, order).view(x.shape[0], c.top_k, -1)
    return (weights[:, None, :] @ y)[:, 0]


def balance_loss(c: NanoConfig, probs: Tensor, chosen: Tensor) -> Tensor:
    """E * sum(share of rows * mean probability): 1 when the load is even."""
    share = torch.bincount(chosen.reshape(-1), minlength=c.experts).to(probs.dtype) / chosen.numel()
    return c.experts * (share * probs.mean(0)).sum()


def sparse_block(c: NanoConfig, p: Params, name: str, x: Tensor) -> tuple[Tensor, Tensor]:
    """x ``[T,D]`` -> (output ``[T,D]``, load-balancing loss)."""
    probs, chosen, weights = route(c, p, name, x)
    out = routed(c, p, name, x, chosen, weights)
    e = f"{name}.shared_expert"
    hidden = fn.silu(fn.linear(x, p[f"{e}.gate_proj.weight"])) * fn.linear(x, p[f"{e}.up_proj.weight"])
    shared = fn.linear(hidden, p[f"{e}.down_proj.weight"])
    out = out + fn.linear(x, p[f"{name}.shared_expert_gate.weight"]).sigmoid() * shared
    return out, balance_loss(c, probs, chosen)
