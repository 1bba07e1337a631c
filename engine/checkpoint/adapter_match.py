"""Whether adapter and heads files belong to a checkpoint: every target by name and shape."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from engine.checkpoint.adapter_metadata import AdapterMetadata
from engine.checkpoint.checkpoint import Checkpoint
from engine.checkpoint.faults import shown
from engine.checkpoint.lora import LoraFile
from engine.checkpoint.parts import LinearPart
from engine.checkpoint.prerouter import PrerouterFile
from engine.errors import CheckpointError


@dataclass(frozen=True)
class LoraMatch:
    """Canonical modules by outcome; `notes` tell a person what is unusual."""

    applied: tuple[str, ...]
    not_found: tuple[str, ...]
    misshapen: tuple[str, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class HeadsMatch:
    """Owner layers by outcome, and the layers that will execute predictions (ascending)."""

    applied: tuple[int, ...]
    not_found: tuple[int, ...]
    consumers: tuple[int, ...]
    notes: tuple[str, ...]


def match_lora(lora: LoraFile, checkpoint: Checkpoint) -> LoraMatch:
    """Compare the adapter's targets with the checkpoint's matrices [out, in]; routed experts cannot be targets."""
    shapes = _linears(checkpoint)
    fits = {module: shapes.get(module) == (t.b.shape[0], t.a.shape[1]) for module, t in lora.targets.items()}
    return LoraMatch(
        applied=tuple(module for module, good in fits.items() if good),
        not_found=tuple(module for module in fits if module not in shapes),
        misshapen=tuple(module for module, good in fits.items() if not good and module in shapes),
        notes=_k_note(lora.path, lora.metadata, checkpoint),
    )


def require_lora(lora: LoraFile, checkpoint: Checkpoint) -> LoraMatch:
    """`match_lora`, refusing an adapter of another tier: a target misshapen, or none found.

    Raises CheckpointError naming both.
    """
    match = match_lora(lora, checkpoint)
    if match.misshapen or not match.applied:
        fit, absent, differ = len(match.applied), len(match.not_found), len(match.misshapen)
        counts = f"{fit} of its targets fit, {absent} are not there, {differ} differ in shape"
        example = shown((match.misshapen or match.not_found)[0])
        raise _foreign(lora.path, lora.metadata, checkpoint, f"{counts} (the first is {example})")
    return match


def require_heads(heads: PrerouterFile, checkpoint: Checkpoint) -> HeadsMatch:
    """The heads whose owner layers exist here.

    Raises CheckpointError for heads of another tier: other sizes, or no owner among our layers.
    """
    config = checkpoint.config
    if (heads.features, heads.num_experts) != (config.head_features, config.num_experts):
        theirs = f"its heads choose among {heads.num_experts} experts from {heads.features} features"
        why = f"{theirs}, not {config.num_experts} from {config.head_features}"
        raise _foreign(heads.path, heads.metadata, checkpoint, why)
    applied = tuple(owner for owner in heads.owners if owner in config.moe_layers)
    if not applied:
        raise _foreign(heads.path, heads.metadata, checkpoint, f"it has no layers {list(heads.owners)}")
    return HeadsMatch(
        applied=applied,
        not_found=tuple(owner for owner in heads.owners if owner not in applied),
        consumers=config.consumers(applied),
        notes=_k_note(heads.path, heads.metadata, checkpoint),
    )


def _linears(checkpoint: Checkpoint) -> Mapping[str, tuple[int, int]]:
    parts = checkpoint.config.parts(checkpoint.raw_layout)
    return {p.module: (p.out_features, p.in_features) for p in parts if isinstance(p, LinearPart) and not p.experts}


def _k_note(path: Path, metadata: AdapterMetadata, checkpoint: Checkpoint) -> tuple[str, ...]:
    k = metadata.experts_per_token
    if k in (None, checkpoint.experts_per_token):
        return ()
    return (f"{path.name} was trained for K={k}, the checkpoint runs K={checkpoint.experts_per_token}",)


def _foreign(path: Path, metadata: AdapterMetadata, checkpoint: Checkpoint, why: str) -> CheckpointError:
    made_for = f" (made for {shown(metadata.model)})" if metadata.model else ""
    ours = f"{checkpoint.name} (tier {checkpoint.tier})"
    return CheckpointError(f"{path.name}{made_for} does not belong to {ours}: {why}.", "Choose this tier's file.")
