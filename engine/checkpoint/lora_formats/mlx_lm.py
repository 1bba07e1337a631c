"""Adapters of mlx-lm: `<module>.lora_a` [in, r] and `<module>.lora_b` [r, out], rank and scale in the config."""

from __future__ import annotations

from engine.checkpoint.adapter_metadata import AdapterMetadata
from engine.checkpoint.adapter_source import AdapterSource
from engine.checkpoint.faults import fault, shown
from engine.checkpoint.fields import Fields
from engine.checkpoint.headers import Header
from engine.checkpoint.lora import OTHER_LAYOUT, Factor, LoraFile, checked_target, paired
from engine.checkpoint.names import canonical, never_adapted

FACTORS: dict[str, Factor] = {"lora_a": "a", "lora_b": "b"}
ONLY_LORA = "Train it again with fine_tune_type lora."


def recognises(config: Fields) -> bool:
    return config.has("lora_parameters") or config.has("fine_tune_type")


def parse(source: AdapterSource, header: Header, config: Fields) -> LoraFile:
    """The adapter of a folder that mlx-lm wrote. Raises CheckpointError."""
    kind = config.text("fine_tune_type", "lora")
    if kind != "lora":
        raise config.fault("fine_tune_type", f"is {shown(kind)}, not lora", ONLY_LORA)
    parameters = config.section("lora_parameters")
    rank = parameters.integer("rank", high=1 << 16)
    scale = parameters.number("scale", high=1e6)

    def place(name: str) -> tuple[str, Factor]:
        module, _, factor = name.rpartition(".")
        if factor not in FACTORS:
            raise fault(source.weights, "is no part of a LoRA adapter", tensor=name, hint=OTHER_LAYOUT)
        return canonical(module), FACTORS[factor]

    pairs = paired(header, place)
    skipped = tuple(module for module in pairs if never_adapted(module))
    targets = {m: checked_target(pair, rank, scale, True) for m, pair in pairs.items() if m not in skipped}
    base = config.text("model", "")
    metadata = AdapterMetadata("lora", base, None, rank, None, None, {})
    return LoraFile(source.weights, source.name, "mlx-lm", rank, None, scale, targets, skipped, metadata)
