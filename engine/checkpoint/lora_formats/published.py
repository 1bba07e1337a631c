"""LoRA files as published: `<module>.lora_A` [r, in], `<module>.lora_B` [out, r]; r and alpha in the metadata."""

from __future__ import annotations

from engine.checkpoint.adapter_metadata import parse_metadata
from engine.checkpoint.adapter_source import AdapterSource
from engine.checkpoint.faults import fault, shown
from engine.checkpoint.headers import Header
from engine.checkpoint.lora import OTHER_LAYOUT, Factor, LoraFile, checked_target, paired
from engine.checkpoint.names import canonical, never_adapted

FACTORS: dict[str, Factor] = {"lora_A": "a", "lora_B": "b"}


def recognises(header: Header) -> bool:
    """Whether every tensor is named as in a published file."""
    return bool(header.tensors) and all(name.endswith((".lora_A", ".lora_B")) for name in header.tensors)


def parse(source: AdapterSource, header: Header) -> LoraFile:
    """The adapter in `header`. Raises CheckpointError."""
    path = source.weights
    metadata = parse_metadata(path, header.metadata)
    if metadata.kind not in ("", "lora"):
        raise fault(path, f"holds {shown(metadata.kind)}, not a LoRA adapter", hint="Give it as what it is.")

    def place(name: str) -> tuple[str, Factor]:
        module, _, factor = name.rpartition(".")
        if factor not in FACTORS:
            raise fault(path, "is no part of a LoRA adapter", tensor=name, hint=OTHER_LAYOUT)
        return canonical(module), FACTORS[factor]

    pairs = paired(header, place)
    skipped = tuple(module for module in pairs if never_adapted(module))
    if metadata.alpha is None:
        raise fault(path, "its metadata gives no alpha, so its scale is unknown", hint=OTHER_LAYOUT)
    first = next((a.shape for module, (a, _) in pairs.items() if module not in skipped), ())
    rank = metadata.r or max([1, *first[:1]])
    scale = metadata.alpha / rank
    targets = {m: checked_target(pair, rank, scale, False) for m, pair in pairs.items() if m not in skipped}
    return LoraFile(path, source.name, "published", rank, metadata.alpha, scale, targets, skipped, metadata)
