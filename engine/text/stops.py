"""The ids that end a reply, gathered from every place a checkpoint may name them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from engine.text.files import read_optional_json
from engine.text.tokenizer import Tokenizer

# The published config of the 35B lists only <|endoftext|>, and re-saves rename eos: these always count.
KNOWN = ("<|im_end|>", "<|endoftext|>", "<|role_end|>")


def stop_ids(directory: Path, tokenizer: Tokenizer) -> frozenset[int]:
    """Union of generation_config, config, text_config, tokenizer_config and the known names; only ids that the
    vocabulary has. Raises `CheckpointError` naming a damaged file."""
    config = read_optional_json(directory / "config.json")
    text_config = config.get("text_config")
    found = {
        *_ids(read_optional_json(directory / "generation_config.json")),
        *_ids(config),
        *_ids(text_config if isinstance(text_config, dict) else {}),
    }
    names = [*KNOWN, token_name(read_optional_json(directory / "tokenizer_config.json"), "eos_token")]
    found.update(i for name in names if name and (i := tokenizer.id_of(name)) is not None)
    return frozenset(i for i in found if tokenizer.token_of(i) is not None)


def token_name(config: dict[str, Any], key: str) -> str:
    """A token of tokenizer_config.json, written as a string or as an object with `content`; else empty."""
    value = config.get(key)
    if isinstance(value, dict):
        value = value.get("content")
    return value if isinstance(value, str) else ""


def _ids(config: dict[str, Any]) -> Iterator[int]:
    value = config.get("eos_token_id")
    for item in value if isinstance(value, list) else [value]:
        if isinstance(item, int) and not isinstance(item, bool) and 0 <= item < 2**32:
            yield item
