"""The shipped nano: files, sizes, names and types as published, tokenizer and template."""

import json
from pathlib import Path
from typing import Any

import jinja2
import pytest
from jinja2.sandbox import ImmutableSandboxedEnvironment
from tokenizers import Tokenizer

from engine.checkpoint.adapter_match import require_heads
from engine.checkpoint.read_lora import read_lora
from engine.choice import choose
from engine.protocol import Load

NANO = Path(__file__).parents[2] / "engine" / "nano"
MOST_BYTES = 14_000_000


def load(name: str) -> Any:
    return json.loads((NANO / name).read_text(encoding="utf-8"))


def header() -> dict[str, Any]:
    with (NANO / "model.safetensors").open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        tensors: dict[str, Any] = json.loads(file.read(length))
    tensors.pop("__metadata__", None)
    return tensors


def render(messages: list[dict[str, str]], **extra: Any) -> str:
    env = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)

    def refuse(message: str) -> None:
        raise jinja2.TemplateError(message)

    env.globals["raise_exception"] = refuse
    template = env.from_string((NANO / "chat_template.jinja").read_text(encoding="utf-8"))
    return template.render(messages=messages, **extra)


def test_everything_fits() -> None:
    assert sum(f.stat().st_size for f in NANO.rglob("*") if f.is_file()) <= MOST_BYTES


def test_config_is_nested_and_quantised_as_published() -> None:
    config = load("config.json")
    text = config["text_config"]
    assert config["model_type"] == "qwen3_5_moe"
    assert config["quantization"] == config["quantization_config"]
    eight = [k for k, v in config["quantization"].items() if isinstance(v, dict) and v["bits"] == 8]
    assert len(eight) == 2 * text["num_hidden_layers"]
    assert text["layer_types"][3::4] == ["full_attention"] * (text["num_hidden_layers"] // 4)


def test_the_default_is_half_width_predicted_and_the_recovery_adapter() -> None:
    chosen, text = choose(Load("load", "nano")), load("config.json")["text_config"]
    checkpoint = chosen.checkpoint
    assert checkpoint.experts_per_token == text["num_experts_per_tok"] // 2
    assert chosen.routing == "predicted" and chosen.adapter is not None
    assert chosen.adapter.name == "lora_nano_recovery"
    assert chosen.heads is not None
    assert require_heads(chosen.heads, checkpoint).consumers == tuple(range(2, text["num_hidden_layers"] - 1))
    assert [path.stem for path in checkpoint.files.adapters] == ["lora_nano_recovery", "lora_nano_short"]
    for path in checkpoint.files.adapters:
        file = read_lora(path)
        assert (file.rank, file.scale, file.metadata.experts_per_token) == (16, 2.0, checkpoint.experts_per_token)
        assert set(file.targets) == set(checkpoint.config.lora_targets)
    assert choose(Load("load", "nano", adapter="none", routing="exact")).routing == "exact"


def test_tensors_have_the_published_names_and_types() -> None:
    tensors, text = header(), load("config.json")["text_config"]
    experts, hidden, width = text["num_experts"], text["hidden_size"], text["moe_intermediate_size"]
    base = "language_model.model.layers.0"
    down = f"{base}.mlp.switch_mlp.down_proj"
    assert tensors[f"{down}.weight"] | {"data_offsets": 0} == {
        "dtype": "U32", "shape": [experts, hidden, width // 8], "data_offsets": 0
    }  # fmt: skip
    assert tensors[f"{down}.scales"]["shape"] == [experts, hidden, width // 64]
    assert tensors[f"{base}.mlp.gate.weight"]["shape"] == [experts, hidden // 4]
    assert tensors[f"{base}.linear_attn.conv1d.weight"]["shape"][1:] == [4, 1]
    assert {t["dtype"] for t in tensors.values()} == {"U32", "BF16"}
    assert "language_model.lm_head.weight" in tensors


def test_tokenizer_encodes_anything_and_knows_the_control_ids() -> None:
    tok = Tokenizer.from_file(str(NANO / "tokenizer.json"))
    text = "What is 12.5 €? <think>naïve 日本 🙂\n\n  def f(x):\treturn x"
    ids = tok.encode(text, add_special_tokens=False).ids
    assert tok.decode(ids, skip_special_tokens=False) == text
    assert len(tok.encode("<|im_start|>", add_special_tokens=False).ids) == 1
    stops = load("generation_config.json")["eos_token_id"]
    assert tok.token_to_id("<|im_end|>") in stops
    assert tok.token_to_id("<|endoftext|>") in stops
    assert "<think>" in tok.decode(ids, skip_special_tokens=True)
    assert tok.get_vocab_size() <= load("config.json")["text_config"]["vocab_size"]


def test_template_renders_turns_and_drops_reasoning() -> None:
    messages = [
        {"role": "system", "content": " be short "},
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": "<think>\nhm\n</think>\n\nhello"},
        {"role": "user", "content": "bye"},
    ]
    assert render(messages, add_generation_prompt=True, enable_thinking=True) == (
        "<|im_start|>system\nbe short<|im_end|>\n<|im_start|>user\nhi<|im_end|>\n"
        "<|im_start|>assistant\nhello<|im_end|>\n<|im_start|>user\nbye<|im_end|>\n<|im_start|>assistant\n"
    )


@pytest.mark.parametrize("messages", [[], [{"role": "system", "content": "x"}]])
def test_template_refuses_a_chat_without_a_question(messages: list[dict[str, str]]) -> None:
    with pytest.raises(jinja2.TemplateError, match="user"):
        render(messages)
