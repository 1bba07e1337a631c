"""What the small files of a family have in them that other families' have not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from engine.checkpoint.strict_json import JsonObject


@dataclass(frozen=True)
class TextStyle:
    """For tokenizer.json, tokenizer_config.json, generation_config.json and chat_template.jinja.

    controls    control token → id, ascending without a gap
    template    the chat template
    names       tokenizer_config.json: class, and which token is which
    generation  generation_config.json, None for no such file
    """

    controls: Mapping[str, int]
    template: str
    names: Mapping[str, str]
    generation: JsonObject | None = field(default=None)
