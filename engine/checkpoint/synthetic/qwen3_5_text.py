"""The 35B's control tokens and text defaults."""

from __future__ import annotations

from engine.checkpoint.synthetic.qwen3_5_template import CHAT_TEMPLATE
from engine.checkpoint.synthetic.spec import SyntheticSpec
from engine.checkpoint.synthetic.style import TextStyle

CONTROLS = (
    "<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|object_ref_start|>", "<|object_ref_end|>", "<|box_start|>",
    "<|box_end|>", "<|quad_start|>", "<|quad_end|>", "<|vision_start|>", "<|vision_end|>", "<|vision_pad|>",
    "<|image_pad|>", "<|video_pad|>", "<tool_call>", "</tool_call>", "<|fim_prefix|>", "<|fim_middle|>",
    "<|fim_suffix|>", "<|fim_pad|>", "<|repo_name|>", "<|file_sep|>", "<tool_response>", "</tool_response>",
    "<think>", "</think>",
)  # fmt: skip


def controls(special_base: int) -> dict[str, int]:
    """Id by control token; the published ids follow each other from 248044 on."""
    return {name: special_base + i for i, name in enumerate(CONTROLS)}


def text_style(spec: SyntheticSpec) -> TextStyle:
    """As published, the sampling figures being this project's guess."""
    ids = controls(spec.special_base)
    end_of_text, end_of_turn = ids["<|endoftext|>"], ids["<|im_end|>"]
    return TextStyle(
        controls=ids,
        template=CHAT_TEMPLATE,
        names={"tokenizer_class": "Qwen2Tokenizer", "eos_token": "<|im_end|>", "pad_token": "<|endoftext|>"},
        generation={
            "bos_token_id": end_of_text,
            "do_sample": True,
            "eos_token_id": [end_of_turn, end_of_text],
            "pad_token_id": end_of_text,
            "temperature": 1.0,
            "top_k": 20,
            "top_p": 0.95,
        },
    )
