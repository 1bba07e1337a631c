"""Thinking and answer are told apart by ids."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.protocol import Channel, Piece
from engine.text.channels import ReplyDecoder, ReplyStart, ThinkIds, reply_start
from engine.text.tokenizer import Tokenizer
from tests.engine.text.builders import CHATML_CONTROL, ROLE_CONTROL, byte_level

CHATML = Tokenizer(byte_level(CHATML_CONTROL))
ROLE = Tokenizer(byte_level(ROLE_CONTROL))
IDS = ThinkIds.of(CHATML)
ANSWER = ReplyStart()
THINKING = ReplyStart("thinking", trim=True)


def _ids(text: str, tokenizer: Tokenizer = CHATML) -> list[int]:
    return tokenizer.encode(text)


def _as_typed(text: str) -> list[int]:
    return list(text.encode())  # never a control token


def _read(ids: list[int], start: ReplyStart = ANSWER, tokenizer: Tokenizer = CHATML) -> tuple[str, str]:
    reply = ReplyDecoder(tokenizer, ThinkIds.of(tokenizer), start)
    pieces = [piece for i in ids for piece in reply.feed(i)] + reply.finish()
    assert all(piece.text for piece in pieces)
    return _join(pieces, "thinking"), _join(pieces, "answer")


def _join(pieces: list[Piece], channel: Channel) -> str:
    return "".join(piece.text for piece in pieces if piece.channel == channel)


@pytest.mark.parametrize("tokenizer", [CHATML, ROLE], ids=["kept", "special"])
def test_a_thought_that_the_prompt_opened(tokenizer: Tokenizer) -> None:
    ids = _ids("\nFirst.\n\nSecond.\n</think>\n\n  Answer\n\nmore\n", tokenizer)
    assert _read(ids, THINKING, tokenizer) == ("First.\n\nSecond.", "  Answer\n\nmore\n")


def test_a_thought_that_the_model_opens() -> None:
    assert _read(_ids("<think>\nHm.\n</think>\n\nYes")) == ("Hm.", "Yes")
    assert _read(_ids("Paris.\n\n<think>\n\n</think>\n\nIt is")) == ("", "Paris.\n\nIt is")


def test_the_model_repeats_the_opening() -> None:
    assert _read(_ids("<think>\nHm.</think>Yes"), THINKING) == ("Hm.", "Yes")


def test_the_tag_typed_as_text_stays_text() -> None:
    typed = _as_typed("split('</think>')")
    assert _read(typed) == ("", "split('</think>')")
    assert _read(typed, THINKING) == ("split('</think>')", "")


@pytest.mark.parametrize("tokenizer", [CHATML, ROLE], ids=["kept", "special"])
def test_the_token_quoted_in_an_answer_stays_text(tokenizer: Tokenizer) -> None:
    text = "Use `</think>` after `<think>`."
    assert _read(_ids(text, tokenizer), ReplyStart("answer", trim=True), tokenizer) == ("", text)


def test_only_newlines_right_after_the_switch_are_trimmed() -> None:
    assert _read(_ids("</think>\n\n\n\tcode\n"), THINKING) == ("", "\tcode\n")
    assert _read(_ids("\n\nplain\n")) == ("", "\n\nplain\n")
    assert _read(_ids("\n\nplain"), ReplyStart("answer", trim=True)) == ("", "plain")


def test_an_interrupted_thought_keeps_its_last_newlines() -> None:
    assert _read(_ids("\nSo:\n\n"), THINKING) == ("So:\n\n", "")


def test_a_character_cut_by_the_switch_is_shown_in_its_own_channel() -> None:
    assert IDS is not None
    ids = [*_as_typed("a"), 0xF0, 0x9F, IDS.close, *_as_typed("b")]
    assert _read(ids, THINKING) == ("a\ufffd", "b")


def test_a_vocabulary_without_the_tokens_has_one_channel() -> None:
    plain = Tokenizer(byte_level({"<|im_end|>": True, "<think>": False}))
    assert ThinkIds.of(plain) is None
    assert _read(plain.encode("<think>a</think>"), ANSWER, plain) == ("", "<think>a</think>")


def test_the_channel_can_be_asked_for() -> None:
    reply = ReplyDecoder(CHATML, IDS, THINKING)
    channels = [reply.channel]
    for token in _ids("a</think>b"):
        reply.feed(token)
        channels.append(reply.channel)
    assert channels == ["thinking", "thinking", "answer", "answer"]


@pytest.mark.parametrize(
    ("tail", "start"),
    [
        ("<|im_start|>assistant\n<think>\n", THINKING),
        ("<|im_start|>assistant\n<think>\n\n</think>\n\n", ReplyStart("answer", trim=True)),
        ("<|im_start|>assistant\n", ANSWER),
        ("", ANSWER),
    ],
)
def test_the_prompt_decides_where_the_reply_begins(tail: str, start: ReplyStart) -> None:
    assert reply_start(_ids(tail), IDS) == start
    assert reply_start(_ids(tail), None) == ANSWER


@settings(deadline=None, max_examples=60)
@given(st.text(alphabet="a\n \t🦙é", max_size=30), st.text(alphabet="b\n \t🦙é", max_size=30))
def test_nothing_but_the_newlines_around_the_tags_is_lost(thought: str, answer: str) -> None:
    ids = [*_as_typed(thought), *_ids("</think>"), *_as_typed(answer)]
    assert _read(ids, THINKING) == (thought.strip("\n"), answer.lstrip("\n"))


@settings(deadline=None, max_examples=60)
@given(st.lists(st.integers(0, CHATML.n_ids + 2), max_size=60))
def test_any_ids_without_think_tokens_equal_the_full_decode(ids: list[int]) -> None:
    assert IDS is not None
    ids = [i for i in ids if i not in (IDS.open, IDS.close)]
    assert _read(ids) == ("", CHATML.decode(ids))
