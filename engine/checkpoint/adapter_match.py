"""Whether adapter and heads files belong to a checkpoint: every target by name and shape."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from engine.checkpoint.adapter_metadata import AdapterMetadata
from engine.checkpoint.checkpoint import Checkpoint
from engine.checkpoint.faults import fault, shown
from engine.checkpoint.lora import LoraFile, LoraTarget
from engine.checkpoint.names import never_adapted
from engine.checkpoint.parts import LinearPart, PlainPart
from engine.checkpoint.prerouter import PrerouterFile
from engine.errors import CheckpointError


@dataclass(frozen=True)
class LoraMatch:
    """Modules by outcome; `notes` tell a person what is unusual.

    targets    what is applied, by the checkpoint's canonical modules
    not_found  modules, named as in the adapter, that the checkpoint does not have
    skipped    modules that it may have but that are never adapted: routed experts, embeddings, the vision part
    """

    targets: Mapping[str, LoraTarget]
    not_found: tuple[str, ...]
    skipped: tuple[str, ...]
    misshapen: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def applied(self) -> tuple[str, ...]:
        return tuple(self.targets)


@dataclass(frozen=True)
class HeadsMatch:
    """Owner layers by outcome, and the layers that will execute predictions (ascending)."""

    applied: tuple[int, ...]
    not_found: tuple[int, ...]
    consumers: tuple[int, ...]
    notes: tuple[str, ...]


def match_lora(lora: LoraFile, checkpoint: Checkpoint) -> LoraMatch:
    """Compare the adapter's targets with the checkpoint's matrices [out, in]; routed experts cannot be targets.

    Raises CheckpointError when two of its targets are the same matrix.
    """
    shapes = _linears(checkpoint)
    plain = {part.name for part in checkpoint.config.parts(checkpoint.raw_layout) if isinstance(part, PlainPart)}
    targets: dict[str, LoraTarget] = {}
    misshapen, not_found, skipped = [], [], list(lora.skipped)
    for name, target in lora.targets.items():
        module = checkpoint.config.adapted(name) if lora.format == "PEFT" else name
        if module in targets:
            raise fault(lora.path, "is the same matrix as another target", tensor=name)
        if shapes.get(module) == (target.out_features, target.in_features):
            targets[module] = target
        elif module in shapes:
            misshapen.append(name)
        elif f"{module}.weight" in plain or checkpoint.config.ignores(f"{name}.weight"):
            skipped.append(name)
        else:
            not_found.append(name)
    notes = (*_k_note(_file(lora), lora.metadata, checkpoint), *_skip_note(lora, skipped))
    return LoraMatch(targets, tuple(not_found), tuple(skipped), tuple(misshapen), notes)


def require_lora(lora: LoraFile, checkpoint: Checkpoint) -> LoraMatch:
    """`match_lora`, refusing an adapter of another tier: a target misshapen, or none found.

    Raises CheckpointError naming both.
    """
    match = match_lora(lora, checkpoint)
    if match.misshapen or not match.applied:
        fit, absent, differ = len(match.applied), len(match.not_found), len(match.misshapen)
        counts = f"{fit} of its targets fit, {absent} are not there, {differ} differ in shape"
        if match.skipped:
            counts += f", {len(match.skipped)} cannot be adapted here"
        example = shown((match.misshapen or match.not_found or match.skipped)[0])
        raise _foreign(_file(lora), lora.metadata, checkpoint, f"{counts} (the first is {example})")
    return match


def require_heads(heads: PrerouterFile, checkpoint: Checkpoint) -> HeadsMatch:
    """The heads whose owner layers exist here.

    Raises CheckpointError for heads of another tier: other sizes, or no owner among our layers.
    """
    config = checkpoint.config
    if (heads.features, heads.num_experts) != (config.head_features, config.num_experts):
        theirs = f"its heads choose among {heads.num_experts} experts from {heads.features} features"
        why = f"{theirs}, not {config.num_experts} from {config.head_features}"
        raise _foreign(heads.path.name, heads.metadata, checkpoint, why)
    applied = tuple(owner for owner in heads.owners if owner in config.moe_layers)
    if not applied:
        raise _foreign(heads.path.name, heads.metadata, checkpoint, f"it has no layers {list(heads.owners)}")
    return HeadsMatch(
        applied=applied,
        not_found=tuple(owner for owner in heads.owners if owner not in applied),
        consumers=config.consumers(applied),
        notes=_k_note(heads.path.name, heads.metadata, checkpoint),
    )


def fitted(lora: LoraFile, match: LoraMatch) -> LoraFile:
    """The adapter with the targets that are applied and no others, by the checkpoint's modules."""
    return replace(lora, targets=match.targets)


def _linears(checkpoint: Checkpoint) -> Mapping[str, tuple[int, int]]:
    parts = checkpoint.config.parts(checkpoint.raw_layout)
    linears = [part for part in parts if isinstance(part, LinearPart) and not never_adapted(part.module)]
    return {part.module: (part.out_features, part.in_features) for part in linears}


def _skip_note(lora: LoraFile, skipped: Sequence[str]) -> tuple[str, ...]:
    if not skipped:
        return ()
    modules = "1 module" if len(skipped) == 1 else f"{len(skipped)} modules"
    return (f"{lora.name} is not applied to {modules} that cannot be adapted here, such as routed experts",)


def _file(lora: LoraFile) -> str:
    """What a person calls it: the folder, where the file's own name is the same for all."""
    return lora.path.name if lora.format == "published" else lora.name


def _k_note(file: str, metadata: AdapterMetadata, checkpoint: Checkpoint) -> tuple[str, ...]:
    k = metadata.experts_per_token
    if k in (None, checkpoint.experts_per_token):
        return ()
    return (f"{file} was trained for K={k}, the checkpoint runs K={checkpoint.experts_per_token}",)


def _foreign(file: str, metadata: AdapterMetadata, checkpoint: Checkpoint, why: str) -> CheckpointError:
    made_for = f" (made for {shown(metadata.model)})" if metadata.model else ""
    ours = f"{checkpoint.name} (tier {checkpoint.tier})"
    return CheckpointError(f"{file}{made_for} does not belong to {ours}: {why}.", "Choose this tier's file.")
