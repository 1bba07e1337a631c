"""The 8B's control tokens and text defaults."""

from __future__ import annotations

from engine.checkpoint.synthetic.bailing_template import CHAT_TEMPLATE
from engine.checkpoint.synthetic.spec import SyntheticSpec
from engine.checkpoint.synthetic.style import TextStyle

# Published places, counted from <|startoftext|> = 156891 (facts: checkpoints.md §5).
PLACES = {
    "<|startoftext|>": 0,
    "<|endoftext|>": 1,
    "<|role_end|>": 4,
    "<think>": 12,
    "</think>": 13,
    "<role>": 260,
    "</role>": 261,
}
REAL_BASE = 156891


def controls(special_base: int) -> dict[str, int]:
    """Id by control token: at the published base the published ids with reserved ones between, else one by one."""
    if special_base != REAL_BASE:
        return {name: special_base + i for i, name in enumerate(PLACES)}
    names = {place: name for name, place in PLACES.items()}
    return {names.get(i, f"<|reserved_{i}|>"): special_base + i for i in range(max(names) + 1)}


def text_style(spec: SyntheticSpec) -> TextStyle:
    """As published; no generation_config.json, since nobody has seen the published one."""
    return TextStyle(
        controls=controls(spec.special_base),
        template=CHAT_TEMPLATE,
        names={
            "tokenizer_class": "PreTrainedTokenizerFast",
            "bos_token": "<|startoftext|>",
            "eos_token": "<|role_end|>",
            "pad_token": "<|endoftext|>",
        },
    )
