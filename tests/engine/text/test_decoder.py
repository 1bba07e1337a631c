"""Incremental decoding: linear, final, and equal to the full decode."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import pytest
import tokenizers
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import decoders, models

from engine.text.decoder import ByteLevelDecoder, Decoder, WindowDecoder, new_decoder
from engine.text.tokenizer import Tokenizer
from tests.engine.text.builders import CHATML_CONTROL, byte_level

BYTES = Tokenizer(byte_level({**CHATML_CONTROL, "two words": False, "naïve": False}))


def _fallback() -> Tokenizer:
    vocab = {f"<0x{byte:02X}>": byte for byte in range(256)}
    for word in ("▁the", "▁a", "b", "▁", "né", "▁日"):
        vocab[word] = len(vocab)
    raw = tokenizers.Tokenizer(models.BPE(vocab=vocab, merges=[], byte_fallback=True))
    raw.decoder = decoders.Sequence(
        [
            decoders.Replace("▁", " "),
            decoders.ByteFallback(),
            decoders.Fuse(),
            decoders.Strip(content=" ", left=1, right=0),
        ]
    )
    return Tokenizer(raw)


FALLBACK = _fallback()


def _stream(decoder: Decoder, ids: Sequence[int]) -> list[str]:
    return [*(decoder.feed(i) for i in ids), decoder.finish()]


@settings(deadline=None, max_examples=60)
@given(st.lists(st.integers(0, BYTES.n_ids + 3), max_size=60))
def test_deltas_equal_the_full_decode_for_any_ids(ids: list[int]) -> None:
    assert "".join(_stream(new_decoder(BYTES), ids)) == BYTES.decode(ids)


@settings(deadline=None, max_examples=60)
@given(st.text(max_size=60))
def test_text_arrives_unharmed_and_in_whole_characters(text: str) -> None:
    ids = BYTES.encode(text)
    deltas = _stream(new_decoder(BYTES), ids)
    assert "".join(deltas) == BYTES.decode(ids)
    assert "".join(deltas).count("\ufffd") == text.count("\ufffd")


@pytest.mark.parametrize("text", ["🦙", "👩🏽‍🚀", "𠮷野家", "한글", "naïve", "\U0010ffff"])
def test_a_character_split_over_ids_appears_once_and_whole(text: str) -> None:
    ids = list(text.encode())  # one id a byte
    deltas = _stream(ByteLevelDecoder(BYTES), ids)
    assert "".join(deltas) == text
    assert all("\ufffd" not in delta for delta in deltas)
    assert sum(map(bool, deltas)) == len(text)


def test_an_unfinished_character_is_shown_only_at_the_end() -> None:
    deltas = _stream(ByteLevelDecoder(BYTES), [ord("a"), *"🦙".encode()[:3]])
    assert deltas == ["a", "", "", "", "\ufffd"]


def test_special_tokens_are_skipped_and_other_added_tokens_kept() -> None:
    ids = BYTES.encode("<|im_start|>a<tool_call>b</tool_call><|im_end|>two words")
    assert "".join(_stream(new_decoder(BYTES), ids)) == "a<tool_call>b</tool_call>two words"


def test_a_special_token_does_not_cut_a_character() -> None:
    first, *rest = "🦙".encode()
    stop = BYTES.id_of("<|im_end|>")
    assert stop is not None
    assert "".join(_stream(new_decoder(BYTES), [first, stop, *rest])) == "🦙"


def test_each_id_is_looked_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_up = itertools.count()
    tokenizer = Tokenizer(byte_level({}))
    spelling = tokenizer.token_of
    monkeypatch.setattr(tokenizer, "token_of", lambda i: (next(looked_up), spelling(i))[1])
    monkeypatch.setattr(tokenizer, "decode", None)
    _stream(new_decoder(tokenizer), [0xF0] * 5000)
    assert next(looked_up) == 5000


def test_other_decoders_use_a_window() -> None:
    assert not FALLBACK.is_byte_level
    assert isinstance(new_decoder(FALLBACK), WindowDecoder)


@settings(deadline=None, max_examples=60)
@given(st.lists(st.one_of(st.integers(256, 261), st.sampled_from("🦙日é")), max_size=40))
def test_the_window_gives_the_full_decode_of_valid_text(parts: list[int | str]) -> None:
    ids = [i for part in parts for i in ([part] if isinstance(part, int) else part.encode())]
    deltas = _stream(WindowDecoder(FALLBACK), ids)
    assert "".join(deltas) == FALLBACK.decode(ids)
    assert all("\ufffd" not in delta for delta in deltas)


@settings(deadline=None, max_examples=60)
@given(st.lists(st.integers(0, 300), max_size=400))
def test_the_window_stays_short_whatever_comes(ids: list[int]) -> None:
    longest = 0
    decode = FALLBACK.decode

    class Watched(Tokenizer):
        def decode(self, ids: object) -> str:
            nonlocal longest
            assert isinstance(ids, list)
            longest = max(longest, len(ids))
            return decode(ids)

    _stream(WindowDecoder(Watched(FALLBACK.raw)), ids)
    assert longest <= 64
