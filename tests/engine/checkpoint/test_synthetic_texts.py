"""The written tokenizer and chat template behave like the published ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jinja2.sandbox import ImmutableSandboxedEnvironment
from tokenizers import Tokenizer

from engine.checkpoint.synthetic.qwen3_5_template import CHAT_TEMPLATE
from engine.checkpoint.synthetic.qwen3_5_text import CONTROLS, controls
from engine.checkpoint.synthetic.tokenizer import tokenizer_json


@pytest.fixture(scope="module")
def tokenizer(tiny_path: Path) -> Tokenizer:
    return Tokenizer.from_file(str(tiny_path / "tokenizer.json"))


@pytest.mark.parametrize("text", ["Hello, what is the memory?", "naïve – 你好 🦜\n\n  x = 1\t", "", "12345"])
def test_round_trip(text: str, tokenizer: Tokenizer) -> None:
    assert tokenizer.decode(tokenizer.encode(text, add_special_tokens=False).ids) == text


def test_control_tokens_are_single_ids(tokenizer: Tokenizer) -> None:
    ids = tokenizer.encode("<|im_start|>user\nHello<|im_end|>\n<think>", add_special_tokens=False).ids
    assert ids[0] == 449 and ids[-1] == 448 + CONTROLS.index("<think>") == 472
    assert tokenizer.decode(ids, skip_special_tokens=True) == "user\nHello\n<think>"
    assert tokenizer.token_to_id("<|im_end|>") == 450


def test_every_id_decodes(tokenizer: Tokenizer) -> None:
    tokens = [tokenizer.id_to_token(i) for i in range(tokenizer.get_vocab_size())]
    assert None not in tokens and len(set(tokens)) == len(tokens) == 448 + 26


def test_published_ids_at_the_real_vocabulary() -> None:
    vocabulary = json.loads(tokenizer_json(controls(248044)))["model"]["vocab"]
    real = {"<|endoftext|>": 248044, "<|im_start|>": 248045, "<|im_end|>": 248046, "<tool_call>": 248058}
    assert {name: vocabulary[name] for name in real} == real
    assert (vocabulary["<think>"], vocabulary["</think>"]) == (248068, 248069)
    assert sorted(vocabulary.values()) == list(range(248070))


def render(messages: list[dict[str, Any]], **options: Any) -> str:
    environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)

    def refuse(message: str) -> None:
        raise ValueError(message)

    return environment.from_string(CHAT_TEMPLATE).render(
        messages=messages, raise_exception=refuse, add_generation_prompt=True, **options
    )


SYSTEM = {"role": "system", "content": " Be short. "}
ASKED = {"role": "user", "content": " Hi\n"}
ANSWERED = {"role": "assistant", "content": "<think>\nhm\n</think>\n\nHello."}


def test_template_turns() -> None:
    head = "<|im_start|>system\nBe short.<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n"
    tail = "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"
    assert render([SYSTEM, ASKED]) == head + "<|im_start|>assistant\n<think>\n"
    off = render([SYSTEM, ASKED], enable_thinking=False)
    assert off == head + "<|im_start|>assistant\n<think>\n\n</think>\n\n"
    dropped = render([ASKED, ANSWERED, ASKED], enable_thinking=True)
    assert (
        dropped == "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\nHello.<|im_end|>\n" + tail + "<think>\n"
    )
    kept = render([ASKED, ANSWERED, ASKED], preserve_thinking=True)
    assert "<|im_start|>assistant\n<think>\nhm\n</think>\n\nHello.<|im_end|>\n" in kept
    reasoned = [ASKED, {"role": "assistant", "reasoning_content": "hm", "content": "Hello."}, ASKED]
    assert render(reasoned) == dropped


def test_template_tools() -> None:
    text = render([SYSTEM, ASKED, {"role": "tool", "content": "7"}], tools=[{"name": "add"}])
    assert "Be short.\n\n# Tools" in text and '<tools>\n{"name": "add"}\n</tools><|im_end|>' in text
    assert "<|im_start|>user\n<tool_response>\n7\n</tool_response><|im_end|>\n" in text


def test_template_refuses() -> None:
    with pytest.raises(ValueError, match="no question"):
        render([SYSTEM])
    with pytest.raises(ValueError, match="Only the first"):
        render([ASKED, SYSTEM])
