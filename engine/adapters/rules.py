"""How a tier's release uses its prerouter heads: when they run, what they see, how their logits choose."""

from __future__ import annotations

from dataclasses import dataclass

from engine.checkpoint.bailing_moe_v3.config import BailingMoeV3Config
from engine.checkpoint.model_config import ModelConfig
from engine.checkpoint.qwen3_5_moe.config import Qwen35MoeConfig
from engine.errors import CheckpointError
from engine.models import build_bailing_moe_v3 as bailing_moe_v3
from engine.models import build_qwen3_5_moe as qwen3_5_moe
from engine.models.routing import Select

RELEASE_CHUNK = 2048
"""The releases prefill by so many tokens and what their heads see depends on the last chunk. It is kept as a rule
about prompt lengths, whatever the chunk here."""


@dataclass(frozen=True)
class Rules:
    """One tier's rules.

    select         what is executed for a head's logits
    teacher        one-hot sets show what the owner layer's router chose, even where a prediction was executed;
                   else what was executed
    after_prompts  heads run on a prompt's last position, so the first decode step is predicted; else only single
                   tokens are seen, as which the release runs a last chunk of one
    """

    select: Select
    teacher: bool
    after_prompts: bool

    def seen_of_prompt(self, length: int) -> range:
        """Positions of a prompt the heads see, at most two: they run on the last one."""
        alone = length % RELEASE_CHUNK == 1
        if not (self.after_prompts or alone):
            return range(0)
        return range(length - 1 if alone else length - 2, length)


def rules_of(config: ModelConfig, k: int) -> Rules:
    """The rules of the family's release, with `k` experts per token."""
    match config:
        case Qwen35MoeConfig():
            return Rules(qwen3_5_moe.selection(config, k), teacher=False, after_prompts=False)
        case BailingMoeV3Config():
            return Rules(bailing_moe_v3.selection(config, k), teacher=True, after_prompts=True)
        case _:
            raise CheckpointError(f"prerouter heads of the family {config.family} are not supported")
