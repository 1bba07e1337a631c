"""What to write: sizes, and the variations of the published format the tests need."""

from __future__ import annotations

from dataclasses import dataclass

from engine.checkpoint.model_config import ModelConfig
from engine.checkpoint.parts import Quantization
from engine.checkpoint.quant import QuantSpec
from engine.checkpoint.qwen3_5_moe.config import FULL, LINEAR

PREFIXES = ("language_model.model.", "model.language_model.", "model.")


@dataclass(frozen=True, kw_only=True)
class SyntheticSpec:
    """A checkpoint to write. config.json gets model.num_experts_per_tok, the adapters' metadata experts_per_token.

    shards        number of safetensors files; several come with an index
    odd_headers   header lengths odd, so that every tensor starts at an odd offset (in all but the first of several
                  shards, as published)
    prefix        of names in the files: one of PREFIXES
    raw_layout    norms as w instead of w + 1, convolutions [C, 1, k]: the same model in the original layout, which
                  is the 8B's published one
    flat_config   config.json without text_config, as the 8B's always is
    owners        layers with a prerouter head, of head_hidden units; none: no heads file
    lora_rank     0: no adapter file
    special_base  id of the first control token; ids below it are text
    """

    model: ModelConfig
    quant: QuantSpec
    experts_per_token: int
    shards: int = 1
    odd_headers: bool = True
    prefix: str = PREFIXES[0]
    raw_layout: bool = False
    flat_config: bool = False
    owners: tuple[int, ...] = ()
    head_hidden: int = 512
    lora_rank: int = 16
    lora_alpha: int = 32
    special_base: int = 448

    def published(self, name: str) -> str:
        """A canonical name as it stands in files saved from the wrapper `prefix` stands for."""
        if not name.startswith("lm_head"):
            return self.prefix + name
        return f"language_model.{name}" if self.prefix == PREFIXES[0] else name


def layer_types(layers: int, interval: int = 4) -> tuple[str, ...]:
    """Every `interval`-th layer attends, the others are delta nets."""
    return tuple(FULL if (i + 1) % interval == 0 else LINEAR for i in range(layers))


def published_quant(layers: int, group_size: int = 64, bits: int = 4) -> QuantSpec:
    """The published scheme: routers and shared-expert gates in 8 bits, the rest in `bits`."""
    modules = [f"layers.{i}.mlp.{name}" for i in range(layers) for name in ("gate", "shared_expert_gate")]
    return QuantSpec(Quantization(group_size, bits), {module: Quantization(group_size, 8) for module in modules})
