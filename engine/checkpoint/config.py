"""config.json and generation_config.json of a checkpoint directory → its family's configuration."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from engine.checkpoint.bailing_moe_v3 import parse as bailing_moe_v3
from engine.checkpoint.faults import fault, shown
from engine.checkpoint.fields import Fields
from engine.checkpoint.model_config import ModelConfig
from engine.checkpoint.quant import QuantSpec, parse_quant
from engine.checkpoint.qwen3_5_moe import parse as qwen3_5_moe
from engine.checkpoint.strict_json import JsonObject, read_object

FAMILIES = (qwen3_5_moe, bailing_moe_v3)


@dataclass(frozen=True)
class ParsedConfig:
    """A family's configuration, what it says about quantisation, and the file as it was."""

    model: ModelConfig
    quant: QuantSpec
    raw: JsonObject


def read_config(directory: Path) -> ParsedConfig:
    """The configuration of the checkpoint in `directory`. Raises CheckpointError naming the file and key."""
    path = directory / "config.json"
    config = Fields(read_object(path), path)
    for family in FAMILIES:
        if family.recognises(config):
            return ParsedConfig(family.parse(config, _generation_eos(directory)), parse_quant(config), config.raw)
    kind = config.raw.get("model_type") or config.raw.get("architectures")
    supported = ", ".join(family.MODEL_TYPES[0] for family in FAMILIES)
    raise fault(path, f"the architecture {shown(str(kind))} is not supported", hint=f"Supported: {supported}.")


def _generation_eos(directory: Path) -> tuple[int, ...]:
    path = directory / "generation_config.json"
    if not path.exists():
        return ()
    return Fields(read_object(path), path).integers("eos_token_id")
