"""The exact prompts of both tiers: thinking on and off, with system text, over turns, old thoughts dropped."""

from __future__ import annotations

import pytest

from engine.protocol import Message
from engine.text import TextCodec

USER = Message("user", "Hello")
SYSTEM = Message("system", "Be brief.")
TURNS = [SYSTEM, USER, Message("assistant", "Hi!", thinking="A greeting."), Message("user", " Why? ")]

CHATML_HELLO = "<|im_start|>user\nHello<|im_end|>\n"
CHATML_SYSTEM = "<|im_start|>system\nBe brief.<|im_end|>\n"
CHATML_TURNS = (
    CHATML_SYSTEM + CHATML_HELLO + ("<|im_start|>assistant\nHi!<|im_end|>\n<|im_start|>user\nWhy?<|im_end|>\n")
)
CHATML_ASK = {
    True: "<|im_start|>assistant\n<think>\n",
    False: "<|im_start|>assistant\n<think>\n\n</think>\n\n",
}
ROLE_HELLO = "<role>HUMAN</role>Hello<|role_end|>"
ROLE_ASK = {True: "<role>ASSISTANT</role>\n<think>", False: "<role>ASSISTANT</role>\n<think></think>"}
ROLE_TURNS = ROLE_HELLO + (
    "<role>ASSISTANT</role>\n<think></think>Hi!<|role_end|><role>HUMAN</role> Why? <|role_end|>"
)


def _role_system(thinking: bool, text: str = "") -> str:
    return f"<role>SYSTEM</role>{text}detailed thinking {'on' if thinking else 'off'}<|role_end|>"


@pytest.mark.parametrize("thinking", [True, False])
@pytest.mark.parametrize(
    ("messages", "turns"),
    [([USER], CHATML_HELLO), ([SYSTEM, USER], CHATML_SYSTEM + CHATML_HELLO), (TURNS, CHATML_TURNS)],
    ids=["one", "system", "turns"],
)
def test_chatml(chatml: TextCodec, messages: list[Message], turns: str, thinking: bool) -> None:
    prompt = chatml.encode_chat(messages, thinking)
    assert prompt.text == turns + CHATML_ASK[thinking]
    assert prompt.starts_in_thinking is thinking
    _check_ids(chatml, prompt.ids, prompt.text, prompt.boundary, turns)


@pytest.mark.parametrize("thinking", [True, False])
@pytest.mark.parametrize(
    ("messages", "system", "turns"),
    [([USER], "", ROLE_HELLO), ([SYSTEM, USER], "Be brief.\n", ROLE_HELLO), (TURNS, "Be brief.\n", ROLE_TURNS)],
    ids=["one", "system", "turns"],
)
def test_role(role: TextCodec, messages: list[Message], system: str, turns: str, thinking: bool) -> None:
    prompt = role.encode_chat(messages, thinking)
    before = _role_system(thinking, system) + turns
    assert prompt.text == before + ROLE_ASK[thinking]
    assert prompt.starts_in_thinking is thinking
    _check_ids(role, prompt.ids, prompt.text, prompt.boundary, before)


def _check_ids(codec: TextCodec, ids: list[int], text: str, boundary: int, turns: str) -> None:
    assert ids == codec.tokenizer.encode(text)
    assert codec.tokenizer.raw.decode(ids, skip_special_tokens=False) == text
    assert codec.tokenizer.raw.decode(ids[:boundary], skip_special_tokens=False) == turns


def test_the_ids_of_the_shortest_prompt(chatml: TextCodec, role: TextCodec) -> None:
    on, off = (_spelled(chatml, chatml.encode_chat([USER], thinking).ids) for thinking in (True, False))
    turn = "<|im_start|> u s e r Ċ H e ll o <|im_end|> Ċ <|im_start|> a s s i s t a n t Ċ"
    assert on == f"{turn} <think> Ċ"
    assert off == f"{turn} <think> ĊĊ </think> ĊĊ"
    on, off = (_spelled(role, role.encode_chat([USER], thinking).ids) for thinking in (True, False))
    ask = "<role> A S S I S T A N T </role> Ċ <think>"
    assert on.endswith(f"<|role_end|> <role> H U M A N </role> H e ll o <|role_end|> {ask}")
    assert off.endswith(f"o f f <|role_end|> <role> H U M A N </role> H e ll o <|role_end|> {ask} </think>")


def _spelled(codec: TextCodec, ids: list[int]) -> str:
    return " ".join(str(codec.tokenizer.token_of(i)) for i in ids)


def test_the_directive_of_the_user_is_not_doubled(role: TextCodec) -> None:
    prompt = role.encode_chat([Message("system", "detailed thinking on"), USER])
    assert prompt.text.startswith("<role>SYSTEM</role>detailed thinking on<|role_end|><role>HUMAN")


def test_a_thought_after_the_last_question_is_kept(chatml: TextCodec, role: TextCodec) -> None:
    messages = [USER, Message("assistant", "Hi!", thinking="A greeting.")]
    assert chatml.template is not None and role.template is not None
    kept = chatml.template.render(messages, add_generation_prompt=False, enable_thinking=True)
    assert kept == CHATML_HELLO + "<|im_start|>assistant\n<think>\nA greeting.\n</think>\n\nHi!<|im_end|>\n"
    kept = role.template.render(messages, add_generation_prompt=False, enable_thinking=True)
    assert kept.endswith("<role>ASSISTANT</role>\n<think>A greeting.</think>Hi!<|role_end|>")


def test_the_next_turn_begins_with_this_one(chatml: TextCodec, role: TextCodec) -> None:
    for codec in (chatml, role):
        for thinking in (True, False):
            first = codec.encode_chat([SYSTEM, USER], thinking)
            second = codec.encode_chat(TURNS, thinking)
            assert 0 < first.boundary < len(first.ids)
            assert second.ids[: first.boundary] == first.ids[: first.boundary]
