"""A second process that computes the gradient of every second batch, so that both cores have work.

Two processes of one thread each do about 1.7 times the work of one process with two threads here: the
matrices are small. Parameters and gradients lie in shared memory; two barriers mark the steps.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer
from torch import Tensor

from training.config import NanoConfig, TrainSettings
from training.model.nano import loss
from training.model.params import Params
from training.quantise import rounded
from training.rows import Batch, batches

PARTS = ("loss", "topic", "balance")
PATIENCE = 900.0
"""Seconds after which a process gives up when the other one is gone."""


class Share:
    """What both processes see: parameters, the helper's gradients, its losses, and the barriers."""

    def __init__(self, p: Params, context: Any) -> None:
        """Moves the parameters into shared memory."""
        self.p = {name: w.detach().share_memory_() for name, w in p.items()}
        self.grads = {name: torch.zeros_like(w).share_memory_() for name, w in self.p.items()}
        self.parts = torch.zeros(len(PARTS)).share_memory_()
        self.tokens = torch.zeros(1, dtype=torch.long).share_memory_()
        self.begin, self.end = context.Barrier(2), context.Barrier(2)


def gradients(c: NanoConfig, s: TrainSettings, p: Params, batch: Batch, step: int) -> Tensor:
    """Backward of one batch into the ``grad`` of the parameters; returns the three losses."""
    seen = rounded(p) if step >= s.steps - s.quantised_steps else p
    answer, named, balance = loss(c, seen, *batch)
    (answer + s.topic * named + s.balance * balance).backward()
    return torch.stack([answer.detach(), named.detach(), balance.detach()])


def helper(c: NanoConfig, s: TrainSettings, share: Share, tokenizer: Path) -> None:
    """Runs in the second process until the last step."""
    torch.set_num_threads(1)
    tok = Tokenizer.from_file(str(tokenizer))
    p = {name: w.requires_grad_() for name, w in share.p.items()}
    stream = batches(tok, s, 1)
    for step in range(s.done):
        batch = next(stream)
        share.begin.wait(PATIENCE)
        share.parts.copy_(gradients(c, s, p, batch, step))
        share.tokens[0] = batch[0].numel()
        for name, w in p.items():
            share.grads[name].copy_(w.grad)
            w.grad = None
        share.end.wait(PATIENCE)
