"""A LoRA adapter in the one form the engine knows, whichever program wrote it; never merged into the base."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from engine.checkpoint.adapter_metadata import AdapterMetadata
from engine.checkpoint.faults import fault
from engine.checkpoint.headers import Header, TensorInfo
from engine.checkpoint.parts import FLOATS

Format = Literal["published", "mlx-lm", "PEFT"]
Factor = Literal["a", "b"]
Pairs = Mapping[str, tuple[TensorInfo, TensorInfo]]
OTHER_LAYOUT = "Supported are Edge0's layout, mlx-lm's and PEFT's, as these programs write them."


@dataclass(frozen=True)
class LoraTarget:
    """One module's share, y += scale · (x aᵀ) bᵀ with a [r, in] and b [out, r].

    `transposed`: the file holds [in, r] and [r, out] instead.
    """

    a: TensorInfo
    b: TensorInfo
    scale: float
    transposed: bool = False

    @property
    def rank(self) -> int:
        return self.a.shape[1 if self.transposed else 0]

    @property
    def in_features(self) -> int:
        return self.a.shape[0 if self.transposed else 1]

    @property
    def out_features(self) -> int:
        return self.b.shape[1 if self.transposed else 0]


@dataclass(frozen=True)
class LoraFile:
    """An adapter, checked in itself.

    path      the file that holds the factors
    name      how menus and the command line call it
    rank, alpha, scale   what holds for most targets; alpha is None where the format has none
    targets   by module, named as in the file but for the wrapper's prefix
    skipped   modules it adapts that can never be adapted here: routed experts (streamed) and embeddings
    """

    path: Path
    name: str
    format: Format
    rank: int
    alpha: float | None
    scale: float
    targets: Mapping[str, LoraTarget]
    skipped: tuple[str, ...]
    metadata: AdapterMetadata


def paired(header: Header, place: Callable[[str], tuple[str, Factor]]) -> Pairs:
    """Both factors by module; `place` reads a tensor's name and raises CheckpointError for what is no factor."""
    factors: dict[Factor, dict[str, TensorInfo]] = {"a": {}, "b": {}}
    for name, info in header.tensors.items():
        module, factor = place(name)
        if module in factors[factor]:
            raise fault(header.path, "the same module appears twice", tensor=name)
        if info.dtype not in FLOATS:
            raise fault(header.path, f"{info.dtype} instead of F16", tensor=name)
        factors[factor][module] = info
    for module in factors["a"].keys() ^ factors["b"].keys():
        raise fault(header.path, "its two LoRA factors do not come in a pair", tensor=module)
    if not factors["a"]:
        raise fault(header.path, "holds no adapter tensors", hint=OTHER_LAYOUT)
    return {module: (a, factors["b"][module]) for module, a in factors["a"].items()}


def checked_target(pair: tuple[TensorInfo, TensorInfo], rank: int, scale: float, transposed: bool) -> LoraTarget:
    """The target of a pair of matrices. Raises CheckpointError when they are not of this rank."""
    for info, axis in zip(pair, (1, 0) if transposed else (0, 1), strict=True):
        if len(info.shape) != 2 or info.shape[axis] != rank or 0 in info.shape:
            raise fault(info.path, f"{list(info.shape)} does not fit rank {rank}", tensor=info.name)
    return LoraTarget(*pair, scale, transposed)
