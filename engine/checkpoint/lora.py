"""LoRA files as published: `<module>.lora_A` [r, in] and `<module>.lora_B` [out, r], never merged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from engine.checkpoint.adapter_metadata import AdapterMetadata, parse_metadata
from engine.checkpoint.faults import fault, shown
from engine.checkpoint.headers import TensorInfo, read_header
from engine.checkpoint.names import canonical
from engine.checkpoint.parts import FLOATS

_FOREIGN = "Adapters made with mlx-lm or PEFT have another layout; this application reads Edge0's."


@dataclass(frozen=True)
class LoraTarget:
    """The two factors of one module: a [r, in], b [out, r]."""

    a: TensorInfo
    b: TensorInfo


@dataclass(frozen=True)
class LoraFile:
    """y += scale · (x aᵀ) bᵀ for each canonical module in `targets`."""

    path: Path
    rank: int
    alpha: float
    targets: Mapping[str, LoraTarget]
    metadata: AdapterMetadata

    @property
    def scale(self) -> float:
        return self.alpha / self.rank


def read_lora(path: Path) -> LoraFile:
    """The adapter in `path`, checked in itself: pairs, ranks, types. Raises CheckpointError."""
    header = read_header(path)
    metadata = parse_metadata(path, header.metadata)
    if metadata.kind not in ("", "lora"):
        raise fault(path, f"holds {shown(metadata.kind)}, not a LoRA adapter", hint="Give it as what it is.")
    factors: dict[str, dict[str, TensorInfo]] = {"lora_A": {}, "lora_B": {}}
    for name, info in header.tensors.items():
        module, _, factor = name.rpartition(".")
        if factor not in factors:
            raise fault(path, "is no part of a LoRA adapter", tensor=name, hint=_FOREIGN)
        if canonical(module) in factors[factor]:
            raise fault(path, "the same module appears twice", tensor=name)
        factors[factor][canonical(module)] = info
    for module in factors["lora_A"].keys() ^ factors["lora_B"].keys():
        raise fault(path, "lora_A and lora_B do not come in a pair", tensor=module)
    if not factors["lora_A"]:
        raise fault(path, "holds no adapter tensors", hint=_FOREIGN)
    targets = {module: LoraTarget(a, factors["lora_B"][module]) for module, a in factors["lora_A"].items()}
    rank = metadata.r or next(iter(targets.values())).a.shape[:1][0]
    for target in targets.values():
        _check(target, rank)
    if metadata.alpha is None:
        raise fault(path, "its metadata gives no alpha, so its scale is unknown", hint=_FOREIGN)
    return LoraFile(path, rank, metadata.alpha, targets, metadata)


def _check(target: LoraTarget, rank: int) -> None:
    for info, axis in ((target.a, 0), (target.b, 1)):
        if len(info.shape) != 2 or info.shape[axis] != rank or 0 in info.shape:
            raise fault(info.path, f"{list(info.shape)} does not fit rank {rank}", tensor=info.name)
        if info.dtype not in FLOATS:
            raise fault(info.path, f"{info.dtype} instead of F16", tensor=info.name)
