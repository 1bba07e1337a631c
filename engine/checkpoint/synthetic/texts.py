"""The small files beside the weights: configuration, tokenizer, chat template, generation defaults."""

from __future__ import annotations

import json
from pathlib import Path

from engine.checkpoint.synthetic.families import writer
from engine.checkpoint.synthetic.spec import SyntheticSpec
from engine.checkpoint.synthetic.template import CHAT_TEMPLATE
from engine.checkpoint.synthetic.tokenizer import CONTROLS, tokenizer_json


def write_texts(directory: Path, spec: SyntheticSpec) -> None:
    """config.json, generation_config.json, tokenizer.json, tokenizer_config.json, chat_template.jinja."""
    _json(directory / "config.json", writer(spec).config_json(spec))
    end_of_text = spec.special_base + CONTROLS.index("<|endoftext|>")
    end_of_turn = spec.special_base + CONTROLS.index("<|im_end|>")
    generation = {
        "bos_token_id": end_of_text,
        "do_sample": True,
        "eos_token_id": [end_of_turn, end_of_text],
        "pad_token_id": end_of_text,
        "temperature": 1.0,
        "top_k": 20,
        "top_p": 0.95,
    }
    _json(directory / "generation_config.json", generation)
    (directory / "tokenizer.json").write_text(tokenizer_json(spec.special_base), encoding="utf-8")
    names = {"tokenizer_class": "Qwen2Tokenizer", "eos_token": "<|im_end|>", "pad_token": "<|endoftext|>"}
    _json(directory / "tokenizer_config.json", {**names, "model_max_length": spec.model.max_position_embeddings})
    (directory / "chat_template.jinja").write_text(CHAT_TEMPLATE, encoding="utf-8")


def _json(path: Path, value: object) -> None:
    path.write_text(json.dumps(value, indent=4), encoding="utf-8")
