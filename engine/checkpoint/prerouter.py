"""Prerouter files as published: for each owner layer fc1 [h, f], fc2 [E, h], linear_init [E, f], no biases.

f = hidden + 2E features, E experts. A head's logits predict the experts of the next layer for the next token.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from engine.checkpoint.adapter_metadata import AdapterMetadata, parse_metadata
from engine.checkpoint.faults import fault, shown
from engine.checkpoint.headers import TensorInfo, read_header
from engine.checkpoint.parts import FLOATS

PIECES = ("fc1", "fc2", "linear_init")


@dataclass(frozen=True)
class PrerouterHead:
    """The three matrices of one head."""

    fc1: TensorInfo
    fc2: TensorInfo
    linear_init: TensorInfo


@dataclass(frozen=True)
class PrerouterFile:
    """Heads by owner layer (ascending); all have the same `features`, `hidden` and `num_experts`."""

    path: Path
    owners: tuple[int, ...]
    experts_per_token: int | None
    features: int
    hidden: int
    num_experts: int
    heads: Mapping[int, PrerouterHead]
    metadata: AdapterMetadata


def read_prerouter(path: Path) -> PrerouterFile:
    """The heads in `path`, checked in themselves and against the file's list of owners. Raises CheckpointError."""
    header = read_header(path)
    metadata = parse_metadata(path, header.metadata)
    if metadata.kind not in ("", "prerouter"):
        raise fault(path, f"holds {shown(metadata.kind)}, not prerouter heads", hint="Give it as what it is.")
    found: dict[int, dict[str, TensorInfo]] = {}
    for name, info in header.tensors.items():
        owner, piece = _place(path, name)
        if piece in found.setdefault(owner, {}):
            raise fault(path, "the same piece of a head appears twice", tensor=name)
        found[owner][piece] = info
    owners = tuple(sorted(found))
    if not owners or metadata.owners not in (None, owners):
        raise fault(path, f"holds heads for layers {list(owners)}, not for those its metadata lists")
    for owner in owners:
        for piece in PIECES:
            if piece not in found[owner]:
                raise fault(path, "is missing", tensor=f"layers.{owner}.{piece}.weight")
    heads = {owner: PrerouterHead(**found[owner]) for owner in owners}
    features, hidden, experts = _sizes(heads[owners[0]])
    for head in heads.values():
        _check(head, features, hidden, experts)
    return PrerouterFile(path, owners, metadata.experts_per_token, features, hidden, experts, heads, metadata)


def _place(path: Path, name: str) -> tuple[int, str]:
    """`layers.N.fc1.weight` or `layers.N.mlp.prerouter.fc1.weight` → (N, "fc1")."""
    words = name.split(".")
    number = words[1] if len(words) > 3 else ""
    if words[0] != "layers" or words[-1] != "weight" or words[-2] not in PIECES or not number.isascii():
        raise fault(path, "is no part of a prerouter head", tensor=name)
    if not number.isdigit() or len(number) > 4:
        raise fault(path, "is no part of a prerouter head", tensor=name)
    return int(number), words[-2]


def _sizes(head: PrerouterHead) -> tuple[int, int, int]:
    """(features, hidden, experts) as fc1 and fc2 say."""
    for info in (head.fc1, head.fc2):
        if len(info.shape) != 2 or 0 in info.shape:
            raise fault(info.path, f"has the shape {list(info.shape)}, not a matrix", tensor=info.name)
    return head.fc1.shape[1], head.fc1.shape[0], head.fc2.shape[0]


def _check(head: PrerouterHead, features: int, hidden: int, experts: int) -> None:
    shapes = ((hidden, features), (experts, hidden), (experts, features))
    for info, shape in zip((head.fc1, head.fc2, head.linear_init), shapes, strict=True):
        if info.shape != shape:
            raise fault(info.path, f"{list(info.shape)} instead of {list(shape)}", tensor=info.name)
        if info.dtype not in FLOATS:
            raise fault(info.path, f"{info.dtype} instead of F16", tensor=info.name)
