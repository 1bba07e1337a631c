"""Ids to text one at a time: what was emitted never changes, and the sum equals the full decode."""

from __future__ import annotations

import codecs
from typing import Protocol

from engine.text.tokenizer import Tokenizer

_WINDOW = 32


class Decoder(Protocol):
    """Incremental decoding of one stream."""

    def feed(self, token_id: int) -> str:
        """The text that became certain with this id; empty for special tokens and unfinished characters."""
        ...

    def finish(self) -> str:
        """What is left when the stream ends: U+FFFD for a character that never ended."""
        ...


def _alphabet() -> dict[str, int]:
    """Letter → byte of byte-level BPE: printable Latin-1 stands for itself, the rest from U+0100 on in order."""
    printable = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = [byte for byte in range(256) if byte not in printable]
    return {**{chr(byte): byte for byte in printable}, **{chr(256 + n): byte for n, byte in enumerate(others)}}


_BYTE_OF = _alphabet()


def token_bytes(token: str) -> bytes:
    """The bytes a byte-level token stands for; a spelling outside the alphabet stands for its own UTF-8."""
    try:
        return bytes([_BYTE_OF[letter] for letter in token])
    except KeyError:
        return token.encode()


class ByteLevelDecoder:
    """Linear: each id is mapped to its bytes once and goes through an incremental UTF-8 decoder."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._utf8 = codecs.getincrementaldecoder("utf-8")(errors="replace")

    def feed(self, token_id: int) -> str:
        if token_id in self._tokenizer.special_ids:
            return ""
        token = self._tokenizer.token_of(token_id)
        return self._utf8.decode(token_bytes(token)) if token else ""

    def finish(self) -> str:
        text = self._utf8.decode(b"", final=True)
        self._utf8.reset()
        return text


class WindowDecoder:
    """For every other kind of decoder: the difference of two decodes of a short window of recent ids."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._ids: list[int] = []
        self._shown = 0  # ids at the front of the window whose text has been emitted

    def feed(self, token_id: int) -> str:
        if token_id in self._tokenizer.special_ids or self._tokenizer.token_of(token_id) is None:
            return ""
        self._ids.append(token_id)
        text = self._pending()
        unfinished = not text or text.endswith("\ufffd")
        return "" if unfinished and len(self._ids) - self._shown < _WINDOW else self._advance(text)

    def finish(self) -> str:
        return self._advance(self._pending())

    def _pending(self) -> str:
        before = self._tokenizer.decode(self._ids[: self._shown])
        return self._tokenizer.decode(self._ids)[len(before) :]

    def _advance(self, text: str) -> str:
        # The last emitted ids stay as context: such decoders treat the first token of a text differently.
        self._ids = self._ids[self._shown :]
        self._shown = len(self._ids)
        return text


def new_decoder(tokenizer: Tokenizer) -> Decoder:
    """A decoder for one stream of ids."""
    return ByteLevelDecoder(tokenizer) if tokenizer.is_byte_level else WindowDecoder(tokenizer)
