"""Checks a directory's tensors against the complete list of its family."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from engine.checkpoint.expected import fits, linear_shapes
from engine.checkpoint.headers import TensorInfo
from engine.checkpoint.model_config import ModelConfig
from engine.checkpoint.parts import BITS, FLOAT16, GROUP_SIZES, LinearPart, PlainPart, Quantization
from engine.checkpoint.problems import Problems
from engine.checkpoint.quant import QuantSpec

HINT = "The checkpoint is damaged, incomplete or of another kind: verify it or fetch it again."
UNQUANTISED = "This is a model that was never quantised: use an MLX conversion in 4 or 8 bits."


@dataclass(frozen=True)
class Validated:
    """What the shapes say: each module's quantisation (None: plain floats), and the layout of norms and convs."""

    modules: Mapping[str, Quantization | None]
    raw_layout: bool


def validate(
    directory: Path, config: ModelConfig, quant: QuantSpec, tensors: Mapping[str, TensorInfo]
) -> Validated:
    """Compare canonical `tensors` with everything the family needs.

    Shapes decide how a module is quantised; an override in config.json that says otherwise is refused.
    Raises CheckpointError listing what is missing, extra, misshapen, of a wrong type or not supported.
    """
    problems = Problems(directory)
    raw_layout = config.is_raw_layout(tensors)
    modules: dict[str, Quantization | None] = {}
    seen: set[str] = set()
    for part in config.parts(raw_layout):
        if isinstance(part, PlainPart):
            seen.add(part.name)
            _plain(part, tensors, problems)
        else:
            names = [f"{part.module}.{suffix}" for suffix in ("weight", "scales", "biases")]
            seen.update(names[:1] if quant.of(part.module) is None and names[1] not in tensors else names)
            modules[part.module] = _linear(part, quant, tensors, problems)
    for name, info in tensors.items():
        if name not in seen:
            problems.add("extra", info.name, file=info.path)
    problems.raise_any(config.explain(tensors) or (HINT if quant.default else UNQUANTISED))
    return Validated(modules, raw_layout)


def _plain(part: PlainPart, tensors: Mapping[str, TensorInfo], problems: Problems) -> None:
    info = tensors.get(part.name)
    if info is None:
        problems.add("missing", part.name)
        return
    _same_shape(info, part.shape, problems)
    _one_of(info, part.dtypes, problems)


def _linear(
    part: LinearPart, quant: QuantSpec, tensors: Mapping[str, TensorInfo], problems: Problems
) -> Quantization | None:
    weight = tensors.get(f"{part.module}.weight")
    scales = tensors.get(f"{part.module}.scales")
    declared = quant.of(part.module)
    if scales is None and weight is not None and weight.dtype != "U32":
        if part.experts or part.packed:
            what = "experts" if part.experts else "this matrix"
            problems.add("not supported", weight.name, f"{what} must be quantised", weight.path)
        _same_shape(weight, (*part.stack, part.out_features, part.in_features), problems)
        _one_of(weight, FLOAT16, problems)
        return None
    q = _quantization(part, weight, scales)
    if q is not None and quant.overrides.get(part.module, q) != q:
        problems.add("misshapen", f"{part.module}.weight", f"{q.bits} bits, but config.json says otherwise")
    shapes = linear_shapes(part, q or declared or Quantization(64, 4))
    for suffix, shape in shapes.items():
        info = tensors.get(f"{part.module}.{suffix}")
        if info is None:
            problems.add("missing", f"{part.module}.{suffix}")
            continue
        _same_shape(info, shape, problems)
        _one_of(info, ("U32",) if suffix == "weight" else FLOAT16, problems)
    return q


def _quantization(part: LinearPart, weight: TensorInfo | None, scales: TensorInfo | None) -> Quantization | None:
    """The only (group size, bits) that gives these two shapes, None when there is none."""
    if weight is None or scales is None:
        return None
    for q in (Quantization(group_size, bits) for bits in BITS for group_size in GROUP_SIZES):
        shapes = linear_shapes(part, q)
        if fits(part, q) and weight.shape == shapes["weight"] and scales.shape == shapes["scales"]:
            return q
    return None


def _same_shape(info: TensorInfo, shape: tuple[int, ...], problems: Problems) -> None:
    if info.shape != shape:
        problems.add("misshapen", info.name, f"{list(info.shape)} instead of {list(shape)}", info.path)


def _one_of(info: TensorInfo, dtypes: tuple[str, ...], problems: Problems) -> None:
    if info.dtype not in dtypes:
        problems.add("of a wrong element type", info.name, f"{info.dtype} instead of {dtypes[0]}", info.path)
