"""A checkpoint directory, opened: everything checked, nothing loaded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from engine.checkpoint.adapter_metadata import parse_metadata
from engine.checkpoint.config import ParsedConfig, read_config
from engine.checkpoint.faults import fault
from engine.checkpoint.files import CheckpointFiles, find_files, read_tensors
from engine.checkpoint.headers import TensorInfo, read_header
from engine.checkpoint.model_config import ModelConfig
from engine.checkpoint.parts import Quantization
from engine.checkpoint.provenance import provenance
from engine.checkpoint.quant import QuantSpec
from engine.checkpoint.records import Records, build_records
from engine.checkpoint.tiers import identify
from engine.checkpoint.validate import validate
from engine.errors import CheckpointError


@dataclass(frozen=True)
class Checkpoint:
    """What the engine needs to know before it allocates anything.

    tensors            canonical name → place, the complete list of the family and nothing else
    modules            canonical module → its quantisation as the shapes say, None for plain floats
    raw_layout         norms are stored as w, not w + 1, and convolutions as [C, 1, k]: the loader converts
    experts_per_token  the K to run (tiers.py), not always config.num_experts_per_tok
    dense_bytes        all weights but the routed experts; expert_bytes: all routed experts
    """

    path: Path
    name: str
    revision: str
    tier: str
    config: ModelConfig
    quant: QuantSpec
    tensors: Mapping[str, TensorInfo]
    modules: Mapping[str, Quantization | None]
    raw_layout: bool
    experts_per_token: int
    records: Records
    dense_bytes: int
    expert_bytes: int
    files: CheckpointFiles
    notes: tuple[str, ...]

    @property
    def family(self) -> str:
        return self.config.family


def open_checkpoint(path: Path, *, repo: str = "", experts_per_token: int | None = None) -> Checkpoint:
    """Open and completely check the directory `path`; reads headers and small JSON files only.

    `repo`: the hub repository it is known to come from. `experts_per_token` overrides the rule for K.
    Raises CheckpointError naming the file, and the tensor or key at fault.
    """
    files = find_files(path)
    parsed = read_config(path)
    tensors = _canonical(parsed.model, read_tensors(files, parsed.model.ignores))
    found = validate(path, parsed.model, parsed.quant, tensors)
    records = build_records(parsed.model, tensors, found.modules)
    origin = provenance(path, repo)
    identity = identify(path, origin.name, parsed.model, parsed.raw.get("edge0_tier"), _trained_k(files))
    total = sum(info.nbytes for info in tensors.values())
    experts = records.layout.nbytes * records.num_experts * len(records.layers)
    return Checkpoint(
        path=path,
        name=origin.name,
        revision=origin.revision,
        tier=identity.tier,
        config=parsed.model,
        quant=parsed.quant,
        tensors=tensors,
        modules=found.modules,
        raw_layout=found.raw_layout,
        experts_per_token=_override(path, parsed, experts_per_token) or identity.experts_per_token,
        records=records,
        dense_bytes=total - experts,
        expert_bytes=experts,
        files=files,
        notes=identity.notes,
    )


def _canonical(config: ModelConfig, tensors: Mapping[str, TensorInfo]) -> dict[str, TensorInfo]:
    result: dict[str, TensorInfo] = {}
    for name, info in tensors.items():
        other = result.setdefault(config.canonical(name), info)
        if other is not info:
            raise fault(info.path, f"is the same weight as {other.name}", tensor=name)
    return result


def _trained_k(files: CheckpointFiles) -> dict[str, int | None]:
    beside = [file for file in (*files.adapters, *files.heads) if file.parent == files.directory]
    return {file.name: _k_of(file) for file in beside}


def _k_of(file: Path) -> int | None:
    # A damaged adapter must not keep the base from running without it; loading the adapter names the damage.
    try:
        return parse_metadata(file, read_header(file).metadata).experts_per_token
    except CheckpointError:
        return None


def _override(path: Path, parsed: ParsedConfig, k: int | None) -> int | None:
    most = parsed.model.experts_selectable
    if k is not None and not 1 <= k <= most:
        raise fault(path, f"K={k} is not between 1 and {most}", hint="Choose another K.")
    return k
