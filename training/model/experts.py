"""Routed experts: rows sorted by expert, one pass per expert, with a hand-written backward."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as fn


class Dispatch(torch.autograd.Function):  # type: ignore[misc]
    """x ``[T,D]`` -> its rows repeated K times in expert order ``[T*K,D]`` (a gather both ways)."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, order: Tensor, inverse: Tensor, k: int) -> Tensor:
        """``order`` sorts the flat (row, choice) pairs by expert; ``inverse`` undoes it."""
        ctx.save_for_backward(inverse)
        ctx.k = k
        return x.index_select(0, order // k)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None, None]:
        """Sum of the K copies."""
        (inverse,) = ctx.saved_tensors
        return grad.index_select(0, inverse).view(-1, ctx.k, grad.shape[-1]).sum(1), None, None, None


class Permute(torch.autograd.Function):  # type: ignore[misc]
    """Rows of y in another order; the backward is the inverse order."""

    @staticmethod
    def forward(ctx: Any, y: Tensor, there: Tensor, back: Tensor) -> Tensor:
        """y ``[N,D]`` -> y[there]."""
        ctx.save_for_backward(back)
        return y.index_select(0, there)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None]:
        """grad[back]."""
        return grad.index_select(0, ctx.saved_tensors[0]), None, None


class GroupedGLU(torch.autograd.Function):  # type: ignore[misc]
    """down(silu(gate x) * up x) for rows grouped by expert."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, gate: Tensor, up: Tensor, down: Tensor, counts: list[int]) -> Tensor:
        """x ``[N,D]`` in expert order, gate and up ``[E,F,D]``, down ``[E,D,F]`` -> ``[N,D]``."""
        g = x.new_empty(x.shape[0], gate.shape[1])
        u, out = torch.empty_like(g), torch.empty_like(x)
        at = 0
        for e, n in enumerate(counts):
            torch.mm(x[at : at + n], gate[e].t(), out=g[at : at + n])
            torch.mm(x[at : at + n], up[e].t(), out=u[at : at + n])
            at += n
        h = fn.silu(g).mul_(u)
        at = 0
        for e, n in enumerate(counts):
            torch.mm(h[at : at + n], down[e].t(), out=out[at : at + n])
            at += n
        ctx.save_for_backward(x, gate, up, down, g, u, h)
        ctx.counts = counts
        return out

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor | None, Tensor | None, Tensor | None, None]:
        """Gradients of x and, unless they are frozen, of the three stacks."""
        x, gate, up, down, g, u, h = ctx.saved_tensors
        dh, dx = torch.empty_like(h), torch.empty_like(x)
        learned = ctx.needs_input_grad[1]
        dgate, dup, ddown = (torch.zeros_like(w if learned else w[:0]) for w in (gate, up, down))
        at = 0
        for e, n in enumerate(ctx.counts):
            torch.mm(grad[at : at + n], down[e], out=dh[at : at + n])
            if learned:
                torch.mm(grad[at : at + n].t(), h[at : at + n], out=ddown[e])
            at += n
        s = g.sigmoid()
        du = dh * (g * s)
        dg = dh.mul_(u).mul_(s * (1 + g * (1 - s)))
        at = 0
        for e, n in enumerate(ctx.counts):
            rows = slice(at, at + n)
            torch.mm(dg[rows], gate[e], out=dx[rows])
            dx[rows].addmm_(du[rows], up[e])
            if learned:
                torch.mm(dg[rows].t(), x[rows], out=dgate[e])
                torch.mm(du[rows].t(), x[rows], out=dup[e])
            at += n
        return (dx, dgate, dup, ddown, None) if learned else (dx, None, None, None, None)
