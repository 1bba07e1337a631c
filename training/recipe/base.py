"""The frozen base: the shipped int4 files as the numbers they stand for."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import torch
from safetensors import safe_open
from torch import Tensor

from training.config import NanoConfig
from training.model.params import Params, is_matrix, shapes
from training.quantise import bits_of, dequantise

HALF = replace(NanoConfig(), top_k=NanoConfig().top_k // 2)
"""nano at half its width, as it is shipped."""
FIRST_OWNER = 1
"""The release's first head belongs to layer 6 of 40."""


def owners(c: NanoConfig) -> tuple[int, ...]:
    """Layers with a head. The last layer keeps its router, so the head that would serve it is left out."""
    return tuple(range(FIRST_OWNER, c.layers - 2))


def unpack(words: Tensor, bits: int) -> Tensor:
    """Words ``[..., I*bits/32]`` -> codes ``[..., I]``, the first code in the lowest bits."""
    shifts = torch.arange(0, 32, bits)
    return ((words.to(torch.int64)[..., None] >> shifts) & (2**bits - 1)).flatten(-2)


def shipped(directory: Path) -> Params:
    """Every parameter of ``model.safetensors`` in float32, frozen. Shapes as in ``training/model/params.py``."""
    out: Params = {}
    with safe_open(directory / "model.safetensors", "pt") as file:
        for name, shape in shapes(NanoConfig()).items():
            if not is_matrix(name, torch.empty(shape)):
                out[name] = file.get_tensor(name).float()
                continue
            base = name.removesuffix(".weight")
            scale, bias = (file.get_tensor(f"{base}.{part}").float() for part in ("scales", "biases"))
            out[name] = dequantise(unpack(file.get_tensor(name), bits_of(name)), scale, bias)
    return out


def nested(metadata: dict[str, str]) -> dict[str, str]:
    """Metadata as published: one entry whose value is a JSON object as text."""
    return {"__metadata__": json.dumps(metadata)}
