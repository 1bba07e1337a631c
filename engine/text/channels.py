"""Thinking and answer, told apart by token ids and never by searching the text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from engine.protocol import Channel, Piece
from engine.text.decoder import new_decoder
from engine.text.tokenizer import Tokenizer

OPEN, CLOSE = "<think>", "</think>"


@dataclass(frozen=True)
class ThinkIds:
    """The ids of the two tokens around a thought."""

    open: int
    close: int

    @classmethod
    def of(cls, tokenizer: Tokenizer) -> ThinkIds | None:
        """The ids of a vocabulary that has both tokens, else None."""
        start, end = tokenizer.id_of(OPEN), tokenizer.id_of(CLOSE)
        return None if start is None or end is None else cls(start, end)


@dataclass(frozen=True)
class ReplyStart:
    """Where a reply begins. `trim`: a think token came just before, so leading newlines belong to the template.
    `last`: the last character already written in this channel, empty at its start."""

    channel: Channel = "answer"
    trim: bool = False
    last: str = ""


def reply_start(tail: Sequence[int], think: ThinkIds | None) -> ReplyStart:
    """How a reply begins after a prompt that ends in `tail` (ids of the generation prompt)."""
    last = next((i for i in reversed(tail) if think and i in (think.open, think.close)), None)
    if think is None or last is None:
        return ReplyStart()
    return ReplyStart("thinking" if last == think.open else "answer", trim=True)


class ReplyDecoder:
    """One reply: ids in, pieces of text out, each in its channel. Linear in the number of ids."""

    def __init__(self, tokenizer: Tokenizer, think: ThinkIds | None, start: ReplyStart) -> None:
        self._tokenizer = tokenizer
        self._think = think
        self._channel: Channel = start.channel
        self._trim = start.trim
        self._decoder = new_decoder(tokenizer)
        self._held = ""  # newlines at the end of a thought, dropped when </think> follows
        self._last = start.last  # last character of this channel, empty at its start

    @property
    def channel(self) -> Channel:
        """The channel the next ordinary token belongs to."""
        return self._channel

    def feed(self, token_id: int) -> list[Piece]:
        """The pieces that became certain with this id (none, one or two)."""
        if self._think and token_id == self._think.close and self._channel == "thinking":
            return self._switch("answer")
        if self._think and token_id == self._think.open:
            if self._channel == "answer" and self._last in ("", "\n"):
                return self._switch("thinking")
            if self._channel == "thinking" and not self._last:
                return []  # the model repeats what the prompt already opened
        if self._think and token_id in (self._think.open, self._think.close):
            # Elsewhere the token is quoted, as in code about templates, even when it is marked special.
            return self._emit(self._decoder.finish() + (self._tokenizer.token_of(token_id) or ""))
        return self._emit(self._decoder.feed(token_id))

    def finish(self) -> list[Piece]:
        """The rest, when no further id comes."""
        pieces = self._emit(self._decoder.finish())
        if self._held:
            pieces.append(Piece(self._channel, self._held))
            self._held = ""
        return pieces

    def _switch(self, channel: Channel) -> list[Piece]:
        pieces = self._emit(self._decoder.finish())
        self._channel, self._trim, self._held, self._last = channel, True, "", ""
        self._decoder = new_decoder(self._tokenizer)
        return pieces

    def _emit(self, text: str) -> list[Piece]:
        if self._trim:
            text = text.lstrip("\n")
        if not text:
            return []
        self._trim, self._last = False, text[-1]
        if self._channel == "thinking":
            text = self._held + text
            shown = text.rstrip("\n")
            self._held, text = text[len(shown) :], shown
        return [Piece(self._channel, text)] if text else []
