"""The small files beside the weights: configuration, tokenizer, chat template, generation defaults."""

from __future__ import annotations

import json
from pathlib import Path

from engine.checkpoint.synthetic.families import writer
from engine.checkpoint.synthetic.spec import SyntheticSpec
from engine.checkpoint.synthetic.tokenizer import tokenizer_json


def write_texts(directory: Path, spec: SyntheticSpec) -> None:
    """config.json, generation_config.json, tokenizer.json, tokenizer_config.json, chat_template.jinja."""
    family = writer(spec)
    style = family.text_style(spec)
    _json(directory / "config.json", family.config_json(spec))
    if style.generation is not None:
        _json(directory / "generation_config.json", style.generation)
    (directory / "tokenizer.json").write_text(tokenizer_json(style.controls), encoding="utf-8")
    limit = {"model_max_length": spec.model.max_position_embeddings}
    _json(directory / "tokenizer_config.json", {**style.names, **limit})
    (directory / "chat_template.jinja").write_text(style.template, encoding="utf-8")


def _json(path: Path, value: object) -> None:
    path.write_text(json.dumps(value, indent=4), encoding="utf-8")
