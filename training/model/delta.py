"""The gated delta rule: a plain recurrence, and the same thing in chunks (WY form) for training."""

from __future__ import annotations

import torch
from torch import Tensor


def sequential(q: Tensor, k: Tensor, v: Tensor, log_g: Tensor, beta: Tensor) -> Tensor:
    """Reference. q, k ``[B,H,T,dk]``, v ``[B,H,T,dv]``, log_g and beta ``[B,H,T]`` -> ``[B,H,T,dv]``."""
    state = q.new_zeros(*q.shape[:2], v.shape[-1], q.shape[-1])
    out = []
    for t in range(q.shape[2]):
        state = state * log_g[:, :, t, None, None].exp()
        seen = torch.einsum("bhvk,bhk->bhv", state, k[:, :, t])
        u = beta[:, :, t, None] * (v[:, :, t] - seen)
        state = state + u[..., None] * k[:, :, t, None, :]
        out.append(torch.einsum("bhvk,bhk->bhv", state, q[:, :, t]))
    return torch.stack(out, 2)


def chunked(q: Tensor, k: Tensor, v: Tensor, log_g: Tensor, beta: Tensor, size: int = 32) -> Tensor:
    """Same shapes and result as :func:`sequential`; the length must be a multiple of ``size``.

    Inside a chunk the corrections solve a unit lower triangular system, (I + A) U = beta (V - e^G K S'),
    so only the state passes from chunk to chunk.
    """
    b, h, t, dk = q.shape
    dv, n = v.shape[-1], t // size
    q, k, v = (x.reshape(b, h, n, size, -1) for x in (q, k, v))
    total = log_g.reshape(b, h, n, size).cumsum(-1)
    beta = beta.reshape(b, h, n, size, 1)
    lower = torch.ones(size, size, dtype=torch.bool).tril()
    decay = (total[..., :, None] - total[..., None, :]).masked_fill(~lower, float("-inf")).exp()
    grown = total.exp()[..., None]
    a = (k @ k.transpose(-1, -2)) * decay * beta
    a = a.tril(-1)
    right = torch.cat([v * beta, k * (beta * grown)], -1)
    solved = torch.linalg.solve_triangular(a, right, upper=False, unitriangular=True)
    plain, through = solved.split([dv, dk], -1)
    scores = (q @ k.transpose(-1, -2)) * decay
    queries, keys = q * grown, k * (total[..., -1:] - total).exp()[..., None]
    if n == 1:
        return (scores @ plain).reshape(b, h, t, dv)
    state = q.new_zeros(b, h, dk, dv)
    out = []
    for i in range(n):
        u = plain[:, :, i] - through[:, :, i] @ state
        out.append(queries[:, :, i] @ state + scores[:, :, i] @ u)
        state = state * total[:, :, i, -1, None, None].exp() + keys[:, :, i].transpose(-1, -2) @ u
    return torch.stack(out, 2).reshape(b, h, t, dv)
