"""Prerouter heads: what they see, what they say, and how their file looks.

The head of owner layer N sees, at decoded token t, the layer's MoE input and the sets of experts executed there for
tokens t and t - 1 (none for t - 1 if that was part of the prompt); it names the experts of layer N + 1 for t + 1.
"""

from __future__ import annotations

import datetime
import json
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor
from torch.nn import functional as fn

from training.config import NanoConfig
from training.model.params import Params
from training.recipe.base import nested

WIDTH = 128
PIECES = ("fc1", "fc2", "linear_init")


@dataclass(frozen=True)
class Heads:
    """Parameters by their names in the file: ``layers.N.fc1.weight`` ``[width,F]``, fc2 ``[E,width]``,
    linear_init ``[E,F]``, where F = hidden + 2 E."""

    p: Params
    owners: tuple[int, ...]

    def logits(self, owner: int, f: Tensor) -> Tensor:
        """f ``[...,F]`` -> ``[...,E]``."""
        fc1, fc2, linear = (self.p[f"layers.{owner}.{piece}.weight"] for piece in PIECES)
        return fn.linear(f, linear) + fn.linear(fn.gelu(fn.linear(f, fc1)), fc2)


def initialise(c: NanoConfig, owners: tuple[int, ...], seed: int) -> Heads:
    """Seeded start values: a linear map of zeros, and a hidden layer that adds nothing yet."""
    gen = torch.Generator().manual_seed(seed)
    f = c.hidden + 2 * c.experts
    p: Params = {}
    for owner in owners:
        p[f"layers.{owner}.fc1.weight"] = torch.randn(WIDTH, f, generator=gen) * f**-0.5
        p[f"layers.{owner}.fc2.weight"] = torch.zeros(c.experts, WIDTH)
        p[f"layers.{owner}.linear_init.weight"] = torch.zeros(c.experts, f)
    return Heads({name: w.requires_grad_() for name, w in p.items()}, owners)


def hot(used: Tensor, experts: int) -> Tensor:
    """Experts ``[...,K]`` -> sets ``[...,E]`` with K ones."""
    return torch.zeros(*used.shape[:-1], experts).scatter_(-1, used, 1.0)


def features(c: NanoConfig, inputs: Tensor, used: Tensor, start: Tensor) -> Tensor:
    """MoE inputs ``[B,T,D]``, executed experts ``[B,T,K]``, prompts' lengths ``[B]`` -> ``[B,T,D+2E]``.

    Inputs pass through float16, as the release has them.
    """
    now = hot(used, c.experts)
    decoded = torch.arange(inputs.shape[1]) >= start[:, None]
    before = fn.pad(now * decoded[..., None], (0, 0, 1, 0))[:, :-1]
    return torch.cat([inputs.half().float(), now, before], -1)


def predicted(c: NanoConfig, heads: Heads, owner: int, f: Tensor) -> tuple[Tensor, Tensor]:
    """f ``[B,T,F]`` -> experts and weights ``[B,T,K]`` of layer ``owner + 1``, at the positions they are for."""
    top, chosen = heads.logits(owner, f).softmax(-1).topk(c.top_k, -1)
    weights = top / top.sum(-1, keepdim=True)
    return chosen.roll(1, 1), weights.roll(1, 1)


def write(c: NanoConfig, heads: Heads, path: Path, source: str) -> None:
    """The published file."""
    metadata = {
        "model": "nano",
        "kind": "prerouter",
        "K": str(c.top_k),
        "owners": json.dumps(list(heads.owners)),
        "source": source,
        "converted": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "format_version": "1",
    }
    save_file({n: w.detach().half().contiguous() for n, w in heads.p.items()}, path, metadata=nested(metadata))


def read(path: Path) -> Heads:
    """Frozen heads in float32."""
    p = {name: w.float() for name, w in load_file(path).items()}
    return Heads(p, tuple(sorted({int(name.split(".")[1]) for name in p})))
