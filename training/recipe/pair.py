"""A second process that computes the gradient of every second batch (as `training/helper.py` does for the base)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as fn

from training.helper import PATIENCE
from training.model.params import Params
from training.recipe import lora
from training.recipe.base import HALF, shipped
from training.recipe.forward import Seen, trunk, words
from training.recipe.heads import Heads
from training.recipe.rows import DecodedBatch, batches, load


@dataclass(frozen=True)
class Work:
    """What both processes need to know: the base, the rows, the seed of the order, the share of written answers."""

    base: Path
    rows: Path
    seed: int
    answers: float
    steps: int
    tokens: int


class Pair:
    """What both processes see: adapter, heads, the helper's gradients and loss, and the barriers."""

    def __init__(self, adapter: lora.Adapter, heads: Heads, context: Any) -> None:
        """Moves everything into shared memory."""
        self.adapter = {name: w.detach().share_memory_() for name, w in adapter.items()}
        self.heads = Heads({name: w.detach().share_memory_() for name, w in heads.p.items()}, heads.owners)
        self.grads = {name: torch.zeros_like(w).share_memory_() for name, w in self.adapter.items()}
        self.loss = torch.zeros(1).share_memory_()
        self.begin, self.end = context.Barrier(2), context.Barrier(2)


def loss(found: Tensor, batch: DecodedBatch, answers: float) -> Tensor:
    """found ``[N,V]`` log-probabilities at the positions asked -> mean cross entropy of the teacher's opinion, and
    with the share ``answers`` of what is written."""
    wanted = batch.ids[:, 1:][batch.asked[:, :-1]]
    written = fn.nll_loss(found, wanted)
    taught = -(found.gather(-1, batch.top) * batch.opinion).sum(-1).mean()
    return answers * written + (1 - answers) * taught


def gradient(
    p: Params, adapter: lora.Adapter, heads: Heads, batch: DecodedBatch, answers: float
) -> tuple[float, Seen]:
    """Backward of one batch into the ``grad`` of the adapter; returns the loss and what heads can learn from."""
    seen = Seen()
    hidden = trunk(HALF, lora.applied(p, adapter), batch.ids, batch.start, heads, seen)
    found = loss(words(p, hidden, batch.asked), batch, answers)
    found.backward()
    return float(found.detach()), seen


def helper(pair: Pair, work: Work) -> None:
    """Runs in the second process until the last step."""
    torch.set_num_threads(1)
    p, adapter = shipped(work.base), {name: w.requires_grad_() for name, w in pair.adapter.items()}
    stream = batches(load(work.rows), work.seed + 1000, work.tokens)
    for _ in range(work.steps):
        batch = next(stream)
        pair.begin.wait(PATIENCE)
        pair.loss[0] = gradient(p, adapter, pair.heads, batch, work.answers)[0]
        for name, w in adapter.items():
            pair.grads[name].copy_(w.grad)
            w.grad = None
        pair.end.wait(PATIENCE)
