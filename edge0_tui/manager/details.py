"""What a model's files say: sizes, quantisation, experts, heads, adapters, and where they came from."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from edge0_tui.manager.record import read_record
from edge0_tui.manager.verdict import Verdict, last_verdict
from edge0_tui.paths import Paths


@dataclass(frozen=True)
class Details:
    """Sizes in bytes. `quantisation`: how many matrices have which form, as {"4 bit, groups of 64": 510}.

    `repo` and `revision` are empty where nothing reveals them; `verified` is the last verdict, None without one.
    """

    name: str
    tier: str
    family: str
    path: str
    repo: str
    revision: str
    files: int
    tensors: int
    bytes: int
    dense_bytes: int
    expert_bytes: int
    record_bytes: int
    layers: int
    expert_layers: int
    experts_per_layer: int
    experts_per_token: int
    context: int
    vocabulary: int
    quantisation: dict[str, int]
    adapters: tuple[str, ...]
    heads: tuple[str, ...]
    notes: tuple[str, ...]
    verified: Verdict | None


def details(path: Path, paths: Paths) -> Details:
    """Reads headers only. Raises `CheckpointError`."""
    from engine.checkpoint.checkpoint import open_checkpoint

    record = read_record(path)
    checkpoint = open_checkpoint(path, repo=record.repo if record else "")
    config, files = checkpoint.config, checkpoint.files
    forms = Counter(
        f"{form.bits} bit, groups of {form.group_size}" if form else "plain floats"
        for form in checkpoint.modules.values()
    )
    every = [*files.shards, *files.adapters, *files.heads]
    return Details(
        name=checkpoint.name,
        tier=checkpoint.tier,
        family=checkpoint.family,
        path=str(path),
        repo=checkpoint.name if "/" in checkpoint.name else "",
        revision=record.commit if record else checkpoint.revision,
        files=len(every),
        tensors=len(checkpoint.tensors),
        bytes=sum(file.stat().st_size for file in every),
        dense_bytes=checkpoint.dense_bytes,
        expert_bytes=checkpoint.expert_bytes,
        record_bytes=checkpoint.records.layout.nbytes,
        layers=config.num_hidden_layers,
        expert_layers=len(checkpoint.records.layers),
        experts_per_layer=config.num_experts,
        experts_per_token=checkpoint.experts_per_token,
        context=config.max_position_embeddings,
        vocabulary=config.vocab_size,
        quantisation=dict(forms.most_common()),
        adapters=tuple(file.name for file in files.adapters),
        heads=tuple(file.name for file in files.heads),
        notes=checkpoint.notes,
        verified=last_verdict(path, paths),
    )
