"""LoRA and prerouter files with the published names, shapes and metadata."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from engine.checkpoint.expected import ExpectedTensor
from engine.checkpoint.parts import LinearPart
from engine.checkpoint.synthetic.safetensors_out import Progress, write_file
from engine.checkpoint.synthetic.spec import SyntheticSpec
from engine.checkpoint.synthetic.words import Bytes, Randomness

LORA = "lora_edge0_synthetic.safetensors"
HEADS = "prerouter_edge0_synthetic.safetensors"


def lora_tensors(spec: SyntheticSpec) -> tuple[ExpectedTensor, ...]:
    """lora_A [r, in] and lora_B [out, r] of every published target."""
    parts = {part.module: part for part in spec.model.parts(False) if isinstance(part, LinearPart)}
    result: list[ExpectedTensor] = []
    for module in spec.model.lora_targets if spec.lora_rank else ():
        name = spec.published(module)
        result.append(ExpectedTensor(f"{name}.lora_A", "F16", (spec.lora_rank, parts[module].in_features)))
        result.append(ExpectedTensor(f"{name}.lora_B", "F16", (parts[module].out_features, spec.lora_rank)))
    return tuple(result)


def head_tensors(spec: SyntheticSpec) -> tuple[ExpectedTensor, ...]:
    """fc1, fc2, linear_init of every owner."""
    features, experts = spec.model.head_features, spec.model.num_experts
    shapes = {
        "fc1": (spec.head_hidden, features),
        "fc2": (experts, spec.head_hidden),
        "linear_init": (experts, features),
    }
    return tuple(
        ExpectedTensor(f"layers.{owner}.{piece}.weight", "F16", shape)
        for owner in spec.owners
        for piece, shape in shapes.items()
    )


def write_adapters(directory: Path, spec: SyntheticSpec, random: Randomness, progress: Progress) -> None:
    """The adapter and the heads `spec` asks for."""

    def content(tensor: ExpectedTensor) -> Iterator[Bytes]:
        yield _values(tensor, spec, random.generator(tensor.name))

    common = {"model": "edge0-synthetic", "K": str(spec.experts_per_token), "source": "engine.checkpoint.synthetic"}
    common |= {"source_md5": "0" * 32, "converted": "2026-01-01T00:00:00Z", "format_version": "1"}
    if lora := lora_tensors(spec):
        metadata = {**common, "kind": "lora", "r": str(spec.lora_rank), "alpha": str(spec.lora_alpha)}
        write_file(directory / LORA, lora, content, _nested(metadata), "odd", progress)
    if heads := head_tensors(spec):
        metadata = {**common, "kind": "prerouter", "owners": json.dumps(list(spec.owners))}
        write_file(directory / HEADS, heads, content, _nested(metadata), "odd", progress)


def _nested(metadata: dict[str, str]) -> dict[str, str]:
    return {"__metadata__": json.dumps(metadata)}


def _values(tensor: ExpectedTensor, spec: SyntheticSpec, random: np.random.Generator) -> Bytes:
    values = random.standard_normal(tensor.shape, dtype=np.float32)
    if tensor.name.endswith("lora_B"):
        # with A of gain one the adapter then moves outputs by some per cent
        values *= np.float32(0.02)
    else:
        values *= np.float32(1 / tensor.shape[-1] ** 0.5)
    if tensor.shape[-1] == spec.model.head_features:
        # one-hot inputs are few: weigh them up so that they matter to the prediction
        values[:, spec.model.hidden_size :] *= np.float32(0.5 * tensor.shape[-1] ** 0.5)
    if tensor.name.endswith("linear_init.weight"):
        values *= np.float32(2.0)
    return values.astype(np.float16).view(np.uint8).reshape(-1)
