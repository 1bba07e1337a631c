"""Teaching the heads: what the layers showed at decoded tokens is kept for a while and learned from in samples."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor
from torch.nn import functional as fn

from training.config import NanoConfig
from training.recipe.forward import Seen
from training.recipe.heads import Heads, features
from training.recipe.rows import DecodedBatch

ROWS = 1024
SHARPNESS = 4.0
"""Routers are nearly even over their experts. Both distributions are raised to this power before they are compared:
the best head stays the same, but the experts that will be chosen weigh more."""


@dataclass
class Memory:
    """By owner: inputs as the head gets them ``[N,F]``, and the true router's probabilities one layer and one
    token later ``[N,E]``; the oldest are forgotten."""

    c: NanoConfig
    most: int = 60_000
    inputs: dict[int, list[Tensor]] = field(default_factory=dict)
    wanted: dict[int, list[Tensor]] = field(default_factory=dict)
    size: int = 0

    def add(self, owners: tuple[int, ...], seen: Seen, batch: DecodedBatch) -> None:
        """Decoded positions of a batch whose next position is decoded too."""
        at = torch.arange(batch.ids.shape[1])
        here = (at >= batch.start[:, None]) & (at < batch.end[:, None] - 1)
        for owner in owners:
            f = features(self.c, seen.inputs[owner], seen.used[owner], batch.start)
            self.inputs.setdefault(owner, []).append(f[here].half())
            self.wanted.setdefault(owner, []).append(seen.router[owner + 1].roll(-1, 1)[here].half())
        self.size += int(here.sum())
        while self.size > self.most:
            self.size -= len(self.inputs[owners[0]][0])
            for store in (self.inputs, self.wanted):
                for parts in store.values():
                    del parts[0]

    def draw(self, owner: int, gen: torch.Generator) -> tuple[Tensor, Tensor]:
        """Some whole batches, chosen at random, of about ``ROWS`` positions together."""
        inputs, wanted = self.inputs[owner], self.wanted[owner]
        chosen: list[int] = []
        while sum(len(inputs[i]) for i in chosen) < min(ROWS, self.size):
            chosen.append(int(torch.randint(len(inputs), (1,), generator=gen)))
        x, y = (torch.cat([store[i] for i in chosen]).float() for store in (inputs, wanted))
        return x, y.clamp_min(1e-7)


class HeadFitter:
    """Adam on cross entropy against the router's whole distribution, from which sets and weights both follow."""

    def __init__(self, heads: Heads, memory: Memory, rate: float, seed: int) -> None:
        """``rate`` may be changed by setting ``group["lr"]`` of ``opt``."""
        self.heads, self.memory = heads, memory
        self.opt = torch.optim.AdamW(list(heads.p.values()), lr=rate, weight_decay=0.01, betas=(0.9, 0.98))
        self.gen = torch.Generator().manual_seed(seed)

    def step(self) -> tuple[float, float]:
        """One update of every head; returns mean loss and the agreement of the sets of K."""
        losses, shares = [], []
        for owner in self.heads.owners:
            f, wanted = self.memory.draw(owner, self.gen)
            found = self.heads.logits(owner, f)
            losses.append(fn.cross_entropy(SHARPNESS * found, (SHARPNESS * wanted.log()).softmax(-1)))
            shares.append(agreement(found.detach(), wanted, self.memory.c.top_k))
        torch.stack(losses).sum().backward()
        self.opt.step()
        self.opt.zero_grad()
        return float(torch.stack(losses).mean().detach()), sum(shares) / len(shares)


def agreement(found: Tensor, wanted: Tensor, k: int) -> float:
    """Share of the router's K experts that are among the K named. Both ``[N,E]``."""
    a, b = found.topk(k, -1)[1], wanted.topk(k, -1)[1]
    return float((a[:, :, None] == b[:, None, :]).any(1).float().mean())
