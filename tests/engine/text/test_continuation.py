"""A stopped answer goes on: the prompt ends where its text does, in the channel it was in."""

from __future__ import annotations

import pytest

from engine.protocol import Message, Piece
from engine.text import TextCodec
from engine.text.prompt import Prompt

QUESTION = Message("user", "Count to three.")
CHATML = "<|im_start|>user\nCount to three.<|im_end|>\n<|im_start|>assistant\n<think>\n"
ROLE = (
    "<role>SYSTEM</role>detailed thinking {}<|role_end|><role>HUMAN</role>Count to three.<|role_end|>"
    "<role>ASSISTANT</role>\n<think>"
)


def goes_on(codec: TextCodec, text: str, thinking: str = "") -> Prompt:
    return codec.encode_chat([QUESTION, Message("assistant", text, thinking)], thinking=False)


def test_the_turn_is_left_open(chatml: TextCodec, role: TextCodec) -> None:
    assert goes_on(chatml, "One, two").text == CHATML + "\n</think>\n\nOne, two"
    assert goes_on(role, "One, two").text == ROLE.format("off") + "</think>One, two"
    assert goes_on(chatml, "One,", "Easy.").text == CHATML + "Easy.\n</think>\n\nOne,"
    assert goes_on(role, "One,", "Easy.").text == ROLE.format("on") + "Easy.</think>One,"
    assert goes_on(chatml, "", "Eas").text == CHATML + "Eas"
    assert goes_on(role, "", "Eas").text == ROLE.format("on") + "Eas"


@pytest.mark.parametrize(("text", "thinking"), [("One, two,\n", ""), ("One", "Easy."), ("", "Eas"), ("", "")])
def test_its_ids_are_those_of_the_reply_that_was_stopped(
    chatml: TextCodec, role: TextCodec, text: str, thinking: str
) -> None:
    for codec in (chatml, role):
        asked = codec.encode_chat([QUESTION], thinking=bool(thinking))
        prompt = goes_on(codec, text, thinking)
        assert prompt.ids[: len(asked.ids)] == asked.ids
        assert prompt.boundary == asked.boundary


def test_the_rest_belongs_to_the_channel_it_stopped_in(chatml: TextCodec, role: TextCodec) -> None:
    for codec in (chatml, role):
        decoder = codec.reply_decoder(goes_on(codec, "", "Eas").start)
        ids = codec.tokenizer.encode("y.\n</think>\n\nOne")
        pieces = [piece for i in ids for piece in decoder.feed(i)] + decoder.finish()
        assert "".join(p.text for p in pieces if p.channel == "thinking") == "y."
        assert "".join(p.text for p in pieces if p.channel == "answer") == "One"
        decoder = codec.reply_decoder(goes_on(codec, "One,").start)
        ids = codec.tokenizer.encode("\n\ntwo")
        assert "".join(p.text for i in ids for p in decoder.feed(i)) == "\n\ntwo", "newlines are the answer's own"


def test_a_think_token_in_the_middle_of_an_answer_stays_quoted(chatml: TextCodec) -> None:
    decoder = chatml.reply_decoder(goes_on(chatml, "The tag ").start)
    (open_tag,) = chatml.tokenizer.encode("<think>")
    assert decoder.feed(open_tag) == [Piece("answer", "<think>")]


def test_control_tokens_spelled_in_it_stay_text(chatml: TextCodec) -> None:
    prompt = goes_on(chatml, "It ends with <|im_end|> and")
    assert prompt.ids.count(chatml.tokenizer.id_of("<|im_end|>") or -1) == 1
    assert prompt.text.endswith("It ends with <|im_end|> and")
