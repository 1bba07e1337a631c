"""LoRA adapters: where they sit, how they act in training, and how their file looks."""

from __future__ import annotations

import datetime
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from training.config import NanoConfig
from training.model.params import Params, layer, shapes
from training.recipe.base import nested

RANK, ALPHA = 16, 32
DELTA = ("in_proj_qkv", "in_proj_z", "in_proj_a", "in_proj_b", "out_proj")
ATTENTION = ("q_proj", "k_proj", "v_proj", "o_proj")
SHARED = ("gate_proj", "up_proj", "down_proj")

Adapter = dict[str, Tensor]
"""``<module>.lora_A`` ``[r,in]`` and ``<module>.lora_B`` ``[out,r]``, the names in the file."""


def targets(c: NanoConfig) -> tuple[str, ...]:
    """The modules the 35B's adapter has: projections of the mixers and of the shared experts, nothing routed."""
    out: list[str] = []
    for i in range(c.layers):
        mixer = [f"self_attn.{n}" for n in ATTENTION] if c.is_attention(i) else [f"linear_attn.{n}" for n in DELTA]
        out += [f"{layer(i)}.{n}" for n in (*mixer, *(f"mlp.shared_expert.{n}" for n in SHARED))]
    return tuple(out)


def initialise(c: NanoConfig, seed: int) -> Adapter:
    """A random A and a B of zeros: at first the adapter changes nothing."""
    gen = torch.Generator().manual_seed(seed)
    out: Adapter = {}
    for module in targets(c):
        rows, columns = shapes(c)[f"{module}.weight"]
        out[f"{module}.lora_A"] = torch.randn(RANK, columns, generator=gen) * columns**-0.5
        out[f"{module}.lora_B"] = torch.zeros(rows, RANK)
    return {name: w.requires_grad_() for name, w in out.items()}


def applied(p: Params, adapter: Adapter, scale: float = ALPHA / RANK) -> Params:
    """The base with the adapter's share added. A means of computing y + scale (x A') B' and its gradient only:
    the engine keeps the two apart."""
    out = dict(p)
    for name, a in adapter.items():
        if name.endswith(".lora_A"):
            module = name.removesuffix(".lora_A")
            out[f"{module}.weight"] = p[f"{module}.weight"] + scale * (adapter[f"{module}.lora_B"] @ a)
    return out


def write(c: NanoConfig, adapter: Adapter, path: Path, source: str) -> None:
    """The published file."""
    metadata = {
        "model": "nano",
        "kind": "lora",
        "K": str(c.top_k),
        "r": str(RANK),
        "alpha": str(ALPHA),
        "source": source,
        "converted": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "format_version": "1",
    }
    save_file({n: w.detach().half().contiguous() for n, w in adapter.items()}, path, metadata=nested(metadata))


def read(path: Path) -> Adapter:
    """The factors in float32."""
    return {name: w.float() for name, w in load_file(path).items()}
