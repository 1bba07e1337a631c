"""The two published tiers without their files: everything a checkpoint's headers would say, from its dimensions.

For the card before a download, which must be there before anything was fetched.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path

from engine.checkpoint.adapter_metadata import AdapterMetadata
from engine.checkpoint.checkpoint import Checkpoint
from engine.checkpoint.expected import ExpectedTensor, expected_tensors
from engine.checkpoint.files import CheckpointFiles
from engine.checkpoint.headers import TensorInfo
from engine.checkpoint.lora import LoraFile, LoraTarget
from engine.checkpoint.prerouter import PrerouterFile, PrerouterHead
from engine.checkpoint.records import build_records
from engine.checkpoint.synthetic.adapters import head_tensors, lora_tensors
from engine.checkpoint.synthetic.families import writer
from engine.checkpoint.synthetic.presets import full
from engine.checkpoint.synthetic.presets_8b import full_8b
from engine.checkpoint.synthetic.spec import SyntheticSpec
from engine.checkpoint.validate import validate
from engine.outlook.model import PlannedModel
from engine.plan import ModelFacts

NAMES = {"35b": "Edge0-35B-A3B-preview", "8b": "Edge0-8B-A1B-preview"}
SPECS: dict[str, Callable[[], SyntheticSpec]] = {"35b": full, "8b": full_8b}
"""Tier → what the release consists of. The same description writes the synthetic checkpoints of the tests."""


def published_facts(tier: str, activation_bytes: int) -> ModelFacts:
    """Sizes of the tier `35b` or `8b` as `model_facts` would find them in its files. KeyError for another tier."""
    return published_model(tier).facts(activation_bytes)


@cache
def published_model(tier: str) -> PlannedModel:
    """The tier's checkpoint, adapter and heads. Paths name files that need not exist. KeyError for another tier."""
    return described(SPECS[tier](), tier, NAMES[tier])


def described(spec: SyntheticSpec, tier: str, name: str) -> PlannedModel:
    """What opening a checkpoint written to `spec` would give, without writing it."""
    directory = Path(name)
    tensors = _infos(directory / "model.safetensors", expected_tensors(spec.model, spec.quant, spec.raw_layout))
    found = validate(directory, spec.model, spec.quant, tensors)
    records = build_records(spec.model, tensors, found.modules)
    experts = records.layout.nbytes * records.num_experts * len(records.layers)
    checkpoint = Checkpoint(
        path=directory,
        name=name,
        revision="",
        tier=tier,
        config=spec.model,
        quant=spec.quant,
        tensors=tensors,
        modules=found.modules,
        raw_layout=found.raw_layout,
        experts_per_token=spec.experts_per_token,
        records=records,
        dense_bytes=sum(info.nbytes for info in tensors.values()) - experts,
        expert_bytes=experts,
        files=CheckpointFiles(directory, (directory / "model.safetensors",), None, (), ()),
        notes=(),
    )
    adapter = _lora(directory / "lora.safetensors", spec)
    ignored = sum(tensor.nbytes for tensor in writer(spec).leftovers(spec))
    return PlannedModel(checkpoint, adapter, _heads(directory / "prerouter.safetensors", spec), ignored)


def _infos(path: Path, expected: Iterable[ExpectedTensor]) -> dict[str, TensorInfo]:
    infos: dict[str, TensorInfo] = {}
    offset = 0
    for tensor in expected:
        infos[tensor.name] = TensorInfo(tensor.name, tensor.dtype, tensor.shape, path, offset, tensor.nbytes)
        offset += tensor.nbytes
    return infos


def _lora(path: Path, spec: SyntheticSpec) -> LoraFile | None:
    infos = _infos(path, lora_tensors(spec))
    if not infos:
        return None
    modules = {spec.published(module): module for module in spec.model.lora_targets}
    targets = {
        module: LoraTarget(infos[f"{name}.lora_A"], infos[f"{name}.lora_B"], spec.lora_alpha / spec.lora_rank)
        for name, module in modules.items()
    }
    return LoraFile(
        path=path,
        name=path.stem,
        format="published",
        rank=spec.lora_rank,
        alpha=spec.lora_alpha,
        scale=spec.lora_alpha / spec.lora_rank,
        targets=targets,
        skipped=(),
        metadata=_metadata("lora", spec),
    )


def _heads(path: Path, spec: SyntheticSpec) -> PrerouterFile | None:
    infos = _infos(path, head_tensors(spec))
    if not infos:
        return None
    heads = {
        owner: PrerouterHead(*(infos[f"layers.{owner}.{piece}.weight"] for piece in ("fc1", "fc2", "linear_init")))
        for owner in spec.owners
    }
    return PrerouterFile(
        path=path,
        owners=spec.owners,
        experts_per_token=spec.experts_per_token,
        features=spec.model.head_features,
        hidden=spec.head_hidden,
        num_experts=spec.model.num_experts,
        heads=heads,
        metadata=_metadata("prerouter", spec),
    )


def _metadata(kind: str, spec: SyntheticSpec) -> AdapterMetadata:
    return AdapterMetadata(kind, "", spec.experts_per_token, None, None, None, {})
