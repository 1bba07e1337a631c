"""The 8B's written tokenizer and chat template behave like the published ones (facts: checkpoints.md §4b, §5)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jinja2.sandbox import ImmutableSandboxedEnvironment
from tokenizers import Tokenizer

from engine.checkpoint.synthetic.bailing_template import CHAT_TEMPLATE
from engine.checkpoint.synthetic.bailing_text import PLACES, controls
from engine.checkpoint.synthetic.tokenizer import tokenizer_json


@pytest.fixture(scope="module")
def tokenizer(tiny_8b_path: Path) -> Tokenizer:
    return Tokenizer.from_file(str(tiny_8b_path / "tokenizer.json"))


def test_control_tokens_are_single_ids(tokenizer: Tokenizer) -> None:
    text = "<role>HUMAN</role>Hello<|role_end|><role>ASSISTANT</role>\n<think>"
    ids = tokenizer.encode(text, add_special_tokens=False).ids
    assert [i for i in ids if i >= 448] == [448 + list(PLACES).index(t) for t in
            ("<role>", "</role>", "<|role_end|>", "<role>", "</role>", "<think>")]  # fmt: skip
    assert tokenizer.decode(ids, skip_special_tokens=True) == "HUMANHelloASSISTANT\n<think>"
    assert tokenizer.decode(ids, skip_special_tokens=False) == text


def test_every_id_decodes(tokenizer: Tokenizer) -> None:
    tokens = [tokenizer.id_to_token(i) for i in range(tokenizer.get_vocab_size())]
    assert None not in tokens and len(set(tokens)) == len(tokens) == 448 + 7


def test_published_ids_at_the_real_vocabulary() -> None:
    vocabulary = json.loads(tokenizer_json(controls(156891)))["model"]["vocab"]
    real = {
        "<|startoftext|>": 156891, "<|endoftext|>": 156892, "<|role_end|>": 156895, "<think>": 156903,
        "</think>": 156904, "<role>": 157151, "</role>": 157152,
    }  # fmt: skip
    assert {name: vocabulary[name] for name in real} == real
    assert sorted(vocabulary.values()) == list(range(157153))


def test_the_small_files_name_the_ends(tiny_8b_path: Path) -> None:
    config = json.loads((tiny_8b_path / "config.json").read_text())
    names = json.loads((tiny_8b_path / "tokenizer_config.json").read_text())
    assert (config["eos_token_id"], config["pad_token_id"]) == (450, 449) and "bos_token_id" not in config
    assert (names["bos_token"], names["eos_token"], names["pad_token"]) == tuple(
        sorted(PLACES, key=list(PLACES).index)[i] for i in (0, 2, 1)
    )


def render(messages: list[dict[str, Any]], **options: Any) -> str:
    environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)

    def refuse(message: str) -> None:
        raise ValueError(message)

    options = {"add_generation_prompt": True, **options}
    return environment.from_string(CHAT_TEMPLATE).render(messages=messages, raise_exception=refuse, **options)


SYSTEM = {"role": "system", "content": "Be short."}
ASKED = {"role": "user", "content": "Hi"}
OFF = "<role>SYSTEM</role>detailed thinking off<|role_end|>"


def test_a_system_turn_is_always_there() -> None:
    tail = "<role>HUMAN</role>Hi<|role_end|><role>ASSISTANT</role>\n<think>"
    assert render([ASKED], enable_thinking=False) == OFF + tail + "</think>"
    on = OFF.replace("off", "on")
    assert render([ASKED], enable_thinking=True) == on + tail == render([ASKED])
    assert render([ASKED], thinking_option="off") == render([ASKED], enable_thinking=False)
    assert render([SYSTEM, ASKED]) == on.replace("detailed", "Be short.\ndetailed") + tail
    said = {"role": "system", "content": "detailed thinking off"}
    assert render([said, ASKED], enable_thinking=True) == OFF + tail


def test_past_turns() -> None:
    thought = {"role": "assistant", "reasoning_content": "hm", "content": "Hello."}
    inline = {"role": "assistant", "content": "<think>hm</think>Hello."}
    plain = {"role": "assistant", "content": "Hello."}
    options = {"enable_thinking": False, "add_generation_prompt": False}
    turn = "<role>HUMAN</role>Hi<|role_end|>"
    answer = "<role>ASSISTANT</role>\n<think>{}</think>Hello.<|role_end|>"
    assert render([ASKED, thought, ASKED], **options) == OFF + turn + answer.format("hm") + turn
    assert render([ASKED, inline], **options) == OFF + turn + answer.format("hm")
    assert render([ASKED, plain], **options) == OFF + turn + answer.format("")


def test_a_history_is_a_prefix_of_its_continuation() -> None:
    """What a conversation's live state needs: the next prompt starts with the last one and its reply."""
    prompt = render([ASKED], enable_thinking=False)
    later = render([ASKED, {"role": "assistant", "content": "Hello."}, ASKED], enable_thinking=False)
    assert later.startswith(prompt + "Hello.<|role_end|>")


def test_tools_and_refusals() -> None:
    text = render([SYSTEM, ASKED, {"role": "tool", "content": "7"}], tools=[{"name": "add"}])
    assert "Be short.\n# Tools" in text
    assert '<tools>\n{"name": "add"}\n</tools>\ndetailed thinking on<|role_end|>' in text
    assert "<role>OBSERVATION</role>\n<tool_response>\n7\n</tool_response><|role_end|>" in text
    with pytest.raises(ValueError, match="Only the first"):
        render([ASKED, SYSTEM])
