"""Where an expert's bytes are: nine byte ranges a record, computed from the stacked tensors' places."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path

from engine.checkpoint.dtypes import ITEM_BYTES
from engine.checkpoint.faults import fault
from engine.checkpoint.headers import TensorInfo
from engine.checkpoint.model_config import ModelConfig
from engine.checkpoint.parts import Quantization

# gate above up, piece by piece, so that one gathered product serves both
PARTS = (
    "gate_proj.weight", "up_proj.weight", "gate_proj.scales", "up_proj.scales",
    "gate_proj.biases", "up_proj.biases", "down_proj.weight", "down_proj.scales", "down_proj.biases",
)  # fmt: skip


@dataclass(frozen=True)
class RecordPart:
    """One piece of a record: `shape` of one expert's matrix, `offset` in the record, both sizes in bytes."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    offset: int
    nbytes: int


@dataclass(frozen=True)
class RecordLayout:
    """The nine parts in order, back to back; `nbytes` in all (1,769,472 for the 35B)."""

    parts: tuple[RecordPart, ...]
    nbytes: int
    gate_up: Quantization
    down: Quantization


@dataclass(frozen=True)
class ByteRange:
    """`nbytes` bytes of `path` from the absolute `offset` on."""

    path: Path
    offset: int
    nbytes: int


@dataclass(frozen=True)
class Records:
    """Every expert of a checkpoint. `layers`: layer → the nine stacked tensors in the order of PARTS."""

    layout: RecordLayout
    num_experts: int
    layers: Mapping[int, tuple[TensorInfo, ...]]

    def ranges(self, layer: int, expert: int) -> tuple[ByteRange, ...]:
        """The nine ranges of one record, in the layout's order. Raises IndexError outside the checkpoint."""
        if layer not in self.layers or not 0 <= expert < self.num_experts:
            raise IndexError(f"no expert {expert} in layer {layer}")
        return tuple(
            ByteRange(info.path, info.offset + expert * part.nbytes, part.nbytes)
            for info, part in zip(self.layers[layer], self.layout.parts, strict=True)
        )


def build_records(
    config: ModelConfig, tensors: Mapping[str, TensorInfo], modules: Mapping[str, Quantization | None]
) -> Records:
    """Records of validated canonical `tensors`. Raises CheckpointError when layers' records differ in form."""
    modules_by_layer = {layer: config.expert_module(layer) for layer in config.moe_layers}
    layers = {layer: tuple(tensors[f"{at}.{part}"] for part in PARTS) for layer, at in modules_by_layer.items()}
    first = layers[config.moe_layers[0]]
    for infos in layers.values():
        for info, model in zip(infos, first, strict=True):
            if (info.dtype, info.shape) != (model.dtype, model.shape):
                raise fault(info.path, "is not quantised like the same matrix in other layers", tensor=info.name)
    for gate, up in ((0, 1), (2, 3), (4, 5)):
        if (first[gate].dtype, first[gate].shape) != (first[up].dtype, first[up].shape):
            raise fault(first[up].path, "is quantised otherwise than gate_proj", tensor=first[up].name)
    at = config.expert_module(config.moe_layers[0])
    gate_up, down = modules[f"{at}.gate_proj"], modules[f"{at}.down_proj"]
    if gate_up is None or down is None:
        raise fault(first[0].path, "is not quantised", tensor=first[0].name)
    return Records(_layout(first, gate_up, down), config.num_experts, layers)


def _layout(infos: tuple[TensorInfo, ...], gate_up: Quantization, down: Quantization) -> RecordLayout:
    parts: list[RecordPart] = []
    offset = 0
    for name, info in zip(PARTS, infos, strict=True):
        nbytes = prod(info.shape[1:]) * ITEM_BYTES[info.dtype]
        parts.append(RecordPart(name, info.dtype, info.shape[1:], offset, nbytes))
        offset += nbytes
    return RecordLayout(tuple(parts), offset, gate_up, down)
