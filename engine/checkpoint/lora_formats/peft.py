"""Adapters of PEFT: `base_model.model.<module>.lora_A.weight` [r, in] and `….lora_B.weight` [out, r].

The scale is lora_alpha / r, or lora_alpha / √r with use_rslora, where both may differ by module.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import sqrt

from engine.checkpoint.adapter_metadata import AdapterMetadata
from engine.checkpoint.adapter_source import AdapterSource
from engine.checkpoint.faults import fault, shown
from engine.checkpoint.fields import Fields
from engine.checkpoint.headers import Header
from engine.checkpoint.lora import OTHER_LAYOUT, Factor, LoraFile, checked_target, paired
from engine.checkpoint.names import canonical, never_adapted

WRAPPER = "base_model.model."
SUFFIXES: dict[str, Factor] = {
    ".lora_A.weight": "a",
    ".lora_B.weight": "b",
    ".lora_embedding_A": "a",
    ".lora_embedding_B": "b",
}
# What changes more than a product beside a linear layer: key → what it is.
BEYOND = {
    "use_dora": "DoRA, which also trains a magnitude for each row",
    "use_qalora": "QALoRA",
    "use_bdlora": "block-diagonal LoRA",
    "lora_bias": "LoRA with biases",
    "modules_to_save": "layers trained whole (modules_to_save)",
    "trainable_token_indices": "trained tokens",
    "layer_replication": "layers of the base repeated",
    "alora_invocation_tokens": "an adapter switched on by tokens (aLoRA)",
    "arrow_config": "a router among several adapters (Arrow)",
}
PLAIN_STARTS = (True, False, "gaussian", "orthogonal", "eva")
"""Other ways to start the training (PiSSA, OLoRA, CorDA, LoftQ) change the base, too."""
PLAIN_LORA = "Only plain LoRA on linear layers can be applied: train or convert it so."
MAX_PATTERNS = 4096
_LITERAL = re.compile(r"\^?[A-Za-z0-9_.]{1,200}")


def recognises(config: Fields) -> bool:
    return config.has("peft_type")


def parse(source: AdapterSource, header: Header, config: Fields) -> LoraFile:
    """The adapter of a folder that PEFT wrote. Raises CheckpointError."""
    _refuse_others(config)
    rank, alpha = config.integer("r", high=1 << 16), config.number("lora_alpha", high=1e6)
    ranks, alphas = _pattern(config, "rank_pattern"), _pattern(config, "alpha_pattern")
    root = config.flag("use_rslora", False)

    def place(name: str) -> tuple[str, Factor]:
        for suffix, factor in SUFFIXES.items():
            if name.endswith(suffix):
                return name.removesuffix(suffix).removeprefix(WRAPPER), factor
        if name.endswith((".lora_magnitude_vector", ".lora_magnitude_vector.weight")):
            raise fault(source.weights, "belongs to DoRA", tensor=name, hint=PLAIN_LORA)
        raise fault(source.weights, "is no part of a LoRA adapter", tensor=name, hint=PLAIN_LORA)

    def scale(module: str, r: int) -> float:
        return _of(alphas, module, alpha) / (sqrt(r) if root else r)

    targets, skipped = {}, []
    for module, pair in paired(header, place).items():
        name = canonical(module)
        if never_adapted(name) or pair[0].name.endswith(".lora_embedding_A"):
            skipped.append(name)
            continue
        r = int(_of(ranks, module, rank))
        if name in targets:
            raise fault(source.weights, "the same module appears twice", tensor=pair[0].name)
        targets[name] = checked_target(pair, r, scale(module, r), False)
    base = config.text("base_model_name_or_path", "")
    metadata = AdapterMetadata("lora", base, None, rank, alpha, None, {})
    usual = alpha / (sqrt(rank) if root else rank)
    return LoraFile(source.weights, source.name, "PEFT", rank, alpha, usual, targets, tuple(skipped), metadata)


def _refuse_others(config: Fields) -> None:
    kind = config.text("peft_type")
    if kind != "LORA":
        raise config.fault("peft_type", f"is {shown(kind)}, not LORA", PLAIN_LORA)
    for key, what in BEYOND.items():
        if config.raw.get(key):
            raise config.fault(key, f"is set: this adapter has {what}", PLAIN_LORA)
    if config.text("bias", "none") != "none":
        raise config.fault("bias", f"is {shown(config.text('bias'))}: this adapter has trained biases", PLAIN_LORA)
    start = config.raw.get("init_lora_weights", True)
    if start not in PLAIN_STARTS:
        why = f"is {shown(str(start))}: the adapter fits a changed base only"
        raise config.fault("init_lora_weights", why, "Convert it to plain LoRA when saving (PEFT can).")


def _pattern(config: Fields, key: str) -> Sequence[tuple[str, float]]:
    """Module name endings and their value, in order. Expressions are refused: they come from an unknown hand."""
    section = config.section(key)
    if len(section.raw) > MAX_PATTERNS:
        raise config.fault(key, f"has {len(section.raw):,} entries (accepted: {MAX_PATTERNS:,})", OTHER_LAYOUT)
    for name in section.raw:
        if not _LITERAL.fullmatch(name):
            raise config.fault(key, f"has the expression {shown(name)}; supported: module names", PLAIN_LORA)
    whole = key == "rank_pattern"
    return [(n, section.integer(n, high=1 << 16) if whole else section.number(n, high=1e6)) for n in section.raw]


def _of(pattern: Sequence[tuple[str, float]], module: str, otherwise: float) -> float:
    """PEFT's rule: the first entry that is the module's name or the end of it at a dot; ^ pins it to the start."""
    for name, value in pattern:
        if module == name.removeprefix("^") or (name[0] != "^" and module.endswith(f".{name}")):
            return value
    return otherwise
