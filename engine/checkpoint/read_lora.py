"""Reads a LoRA adapter of any supported layout: headers and the small config only."""

from __future__ import annotations

from pathlib import Path

from engine.checkpoint.adapter_source import CONFIG, locate
from engine.checkpoint.faults import fault
from engine.checkpoint.fields import Fields
from engine.checkpoint.headers import read_header
from engine.checkpoint.lora import OTHER_LAYOUT, LoraFile
from engine.checkpoint.lora_formats import mlx_lm, peft, published
from engine.checkpoint.strict_json import read_object

MAX_CONFIG = 1 << 20


def read_lora(path: Path) -> LoraFile:
    """The adapter in `path`, a file or a folder, checked in itself: pairs, ranks, types. Raises CheckpointError."""
    source = locate(path)
    header = read_header(source.weights)
    if source.config is None or published.recognises(header):
        foreign = next((name for name in header.tensors if _foreign(name)), None)
        if foreign is not None:
            why = f"is mlx-lm's or PEFT's naming, but there is no {CONFIG} beside the file"
            raise fault(source.weights, why, tensor=foreign, hint="It says the adapter's scale: copy it as well.")
        return published.parse(source, header)
    config = Fields(read_object(source.config, MAX_CONFIG), source.config)
    if peft.recognises(config):
        return peft.parse(source, header, config)
    if mlx_lm.recognises(config):
        return mlx_lm.parse(source, header, config)
    raise fault(source.config, "is neither mlx-lm's nor PEFT's", hint=OTHER_LAYOUT)


def _foreign(name: str) -> bool:
    return name.endswith((".lora_a", ".lora_b", ".lora_A.weight", ".lora_B.weight"))
