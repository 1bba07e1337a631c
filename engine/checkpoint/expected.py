"""The exact tensor list of a checkpoint, given its configuration: names, types, shapes, bytes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

from engine.checkpoint.dtypes import ITEM_BYTES
from engine.checkpoint.model_config import ModelConfig
from engine.checkpoint.parts import LinearPart, PlainPart, Quantization
from engine.checkpoint.quant import QuantSpec


@dataclass(frozen=True)
class ExpectedTensor:
    """A tensor under its canonical name, as published; `expert` tells routed experts from resident weights."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    expert: bool = False

    @property
    def nbytes(self) -> int:
        return prod(self.shape) * ITEM_BYTES[self.dtype]


def linear_shapes(part: LinearPart, q: Quantization) -> dict[str, tuple[int, ...]]:
    """Shapes of a quantised matrix's three tensors: packed words, and one scale and bias a group of inputs."""
    rows = (*part.stack, part.out_features)
    groups = (*rows, part.in_features // q.group_size)
    return {"weight": (*rows, part.in_features * q.bits // 32), "scales": groups, "biases": groups}


def fits(part: LinearPart, q: Quantization) -> bool:
    """Whether the inputs divide into whole groups."""
    return part.in_features % q.group_size == 0


def expected_tensors(config: ModelConfig, quant: QuantSpec, raw_layout: bool = False) -> tuple[ExpectedTensor, ...]:
    """The complete list in file order, floats in BF16: 1,757 tensors of 19,508,787,456 B for the released 35B."""
    return tuple(_expected(config, quant, raw_layout))


def _expected(config: ModelConfig, quant: QuantSpec, raw_layout: bool) -> Iterator[ExpectedTensor]:
    for part in config.parts(raw_layout):
        if isinstance(part, PlainPart):
            yield ExpectedTensor(part.name, part.dtypes[0], part.shape)
            continue
        q = quant.of(part.module)
        expert = bool(part.experts)
        if q is None:
            shape = (*part.stack, part.out_features, part.in_features)
            yield ExpectedTensor(f"{part.module}.weight", "BF16", shape, expert)
            continue
        for suffix, shape in linear_shapes(part, q).items():
            yield ExpectedTensor(f"{part.module}.{suffix}", "U32" if suffix == "weight" else "BF16", shape, expert)
