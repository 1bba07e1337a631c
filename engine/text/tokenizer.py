"""tokenizer.json as it was published, through `tokenizers` alone."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import Any

import tokenizers
from tokenizers import decoders

from engine.errors import CheckpointError
from engine.text.files import read_bounded

FILE = "tokenizer.json"
MAX_BYTES = 128 * 1024 * 1024
_FRONT = 1024 * 1024
MAX_IDS = 4 * 1024 * 1024


class Tokenizer:
    """Text to ids and back. Never adds tokens of its own; the chat template writes every control token."""

    def __init__(self, raw: tokenizers.Tokenizer, source: str = FILE) -> None:
        """Raises `CheckpointError` when an id of the vocabulary is beyond any sane one."""
        # A published file may carry the settings of a training run, which would cut or pad prompts.
        raw.no_truncation()
        raw.no_padding()
        self.raw = raw
        used = frozenset(raw.get_vocab(with_added_tokens=True).values())
        if not used:
            raise CheckpointError(f"{source} has an empty vocabulary.")
        self.n_ids = max(used) + 1
        if self.n_ids > MAX_IDS:
            raise CheckpointError(f"{source} names id {self.n_ids - 1:,}; at most {MAX_IDS:,} ids are supported.")
        self.holes = tuple(i for i in range(self.n_ids) if i not in used) if len(used) < self.n_ids else ()
        self.added = {i: token.content for i, token in raw.get_added_tokens_decoder().items()}
        self.special_ids = frozenset(i for i, token in raw.get_added_tokens_decoder().items() if token.special)

    @classmethod
    def open(cls, directory: Path) -> Tokenizer:
        """The tokenizer of a checkpoint. Raises `CheckpointError` naming the file."""
        path = directory / FILE
        data = read_bounded(path, MAX_BYTES)
        try:
            raw = tokenizers.Tokenizer.from_buffer(data)
        except BaseException as error:
            # A panic of the Rust library derives from BaseException, like Ctrl-C, which must pass.
            if isinstance(error, Exception) or type(error).__name__ == "PanicException":
                raise CheckpointError(f"{path} is damaged: {error}.") from None
            raise
        tokenizer = cls(raw, str(path))
        _check_added(raw, data, path)
        return tokenizer

    def encode(self, text: str) -> list[int]:
        """Ids of `text`, control tokens included where it spells them. Lone surrogates become U+FFFD."""
        return self.raw.encode(_valid(text), add_special_tokens=False).ids

    def decode(self, ids: Iterable[int]) -> str:
        """Text of `ids` without special tokens; ids outside the vocabulary have no text."""
        return self.raw.decode(list(ids), skip_special_tokens=True)

    def id_of(self, token: str) -> int | None:
        """The id of a token by its exact spelling, or None."""
        return self.raw.token_to_id(token)

    def token_of(self, token_id: int) -> str | None:
        """The stored spelling of an id (byte-level letters for ordinary tokens), or None."""
        return self.raw.id_to_token(token_id)

    @cached_property
    def is_byte_level(self) -> bool:
        """Whether decoding is concatenation of each token's bytes."""
        return isinstance(self.raw.decoder, decoders.ByteLevel)


def _check_added(raw: tokenizers.Tokenizer, data: bytes, path: Path) -> None:
    """`tokenizers` numbers added tokens by the size of the vocabulary, whatever the file says."""
    for token in _added_tokens(data):
        found = raw.token_to_id(token["content"])
        if found != token["id"]:
            raise CheckpointError(
                f"{path} gives {token['content']} the id {token['id']}, but it would become {found}."
            )


def _added_tokens(data: bytes) -> list[dict[str, Any]]:
    # The list stands at the front of a file of 20 MB; all of it is read only when it does not.
    match = re.search(rb'"added_tokens"\s*:\s*(?=\[)', data)
    if match is None:
        return []
    try:
        found, _ = json.JSONDecoder().raw_decode(
            data[match.end() : match.end() + _FRONT].decode("utf-8", "replace")
        )
        return [{"id": token["id"], "content": token["content"]} for token in found]
    except (ValueError, TypeError, KeyError):
        return list(json.loads(data)["added_tokens"])


def _valid(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
