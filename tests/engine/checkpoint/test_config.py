"""config.json in every published spelling, and the variants that are refused by name."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.checkpoint import Quantization
from engine.checkpoint.config import read_config
from engine.checkpoint.synthetic import REAL_35B, TINY, full, tiny
from engine.checkpoint.synthetic.qwen3_5_moe import config_json
from engine.errors import CheckpointError

Change = Callable[[dict[str, Any], dict[str, Any]], object]


def written(directory: Path, change: Change = lambda outer, text: None) -> Path:
    """A directory with the released 35B's config.json, changed."""
    config: dict[str, Any] = json.loads(json.dumps(config_json(full())))
    change(config, config["text_config"])
    (directory / "config.json").write_text(json.dumps(config))
    (directory / "generation_config.json").write_text('{"eos_token_id": [248046, 248044]}')
    return directory


def test_as_published(tmp_path: Path) -> None:
    parsed = read_config(written(tmp_path))
    assert parsed.model == REAL_35B
    assert len(parsed.quant.overrides) == 80
    assert parsed.quant.of("layers.39.mlp.shared_expert_gate") == Quantization(64, 8)
    assert parsed.quant.of("layers.39.mlp.switch_mlp.up_proj") == Quantization(64, 4)


def move_rope(outer: dict[str, Any], text: dict[str, Any]) -> None:
    rope = text.pop("rope_parameters")
    text |= {"rope_theta": rope["rope_theta"], "partial_rotary_factor": rope["partial_rotary_factor"]}
    text["rope_scaling"] = {"type": "mrope", "mrope_section": [11, 11, 10]}


SAME: dict[str, Change] = {
    "type": lambda o, t: t["rope_parameters"].update(type=t["rope_parameters"].pop("rope_type")),
    "rope moved out": move_rope,
    "factor moved out": lambda o, t: t.update(
        partial_rotary_factor=t["rope_parameters"].pop("partial_rotary_factor")
    ),
    "no layer_types": lambda o, t: t.pop("layer_types"),
    "no interval": lambda o, t: t.pop("full_attention_interval"),
    "no mode": lambda o, t: o["quantization"].pop("mode"),
    "one quantization": lambda o, t: o.pop("quantization"),
    "norm_topk_prob": lambda o, t: t.update(norm_topk_prob=True, mlp_only_layers=[], decoder_sparse_step=1),
    "nulls": lambda o, t: t.update(mlp_only_layers=None, rope_scaling=None, use_sliding_window=False),
    "no vision": lambda o, t: o.pop("vision_config"),
    "tied outside": lambda o, t: t.pop("tie_word_embeddings"),
}


@pytest.mark.parametrize("case", SAME)
def test_spellings_that_mean_the_same(case: str, tmp_path: Path) -> None:
    parsed = read_config(written(tmp_path, SAME[case]))
    assert parsed.model == REAL_35B
    assert parsed.quant.default == Quantization(64, 4) and len(parsed.quant.overrides) == 80


def test_flat_config(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps(config_json(replace(tiny(), flat_config=True))))
    # without generation_config.json only the end of text is known
    assert read_config(tmp_path).model == replace(TINY, eos_token_ids=(448,))


REFUSED: dict[str, tuple[Change, str]] = {
    "family": (lambda o, t: o.update(model_type="llama"), r"the architecture 'llama' is not supported"),
    "no family": (lambda o, t: [o.pop("model_type"), o.pop("architectures")], r"the architecture 'None'"),
    "dense layers": (lambda o, t: t.update(mlp_only_layers=[0]), r"text_config\.mlp_only_layers.*\[0\]"),
    "sparse step": (lambda o, t: t.update(decoder_sparse_step=2), r"decoder_sparse_step"),
    "activation": (lambda o, t: t.update(hidden_act="gelu"), r"hidden_act.*gelu.*supported: 'silu'"),
    "bias": (lambda o, t: t.update(attention_bias=True), r"attention_bias"),
    "no gate": (lambda o, t: t.update(attn_output_gate=False), r"attn_output_gate"),
    "window": (lambda o, t: t.update(use_sliding_window=True), r"use_sliding_window"),
    "yarn": (lambda o, t: t["rope_parameters"].update(rope_type="yarn", factor=4.0), r"rope_type.*yarn"),
    "yarn, old": (lambda o, t: t.update(rope_scaling={"type": "yarn", "factor": 2}), r"rope_scaling\.type.*yarn"),
    "scaled": (lambda o, t: t["rope_parameters"].update(factor=2.0), r"rope_parameters\.factor"),
    "no theta": (lambda o, t: t["rope_parameters"].pop("rope_theta"), r"rope_theta.*is missing"),
    "odd rotary": (lambda o, t: t["rope_parameters"].update(partial_rotary_factor=0.255), r"partial_rotary_factor"),
    "missing": (lambda o, t: t.pop("hidden_size"), r"text_config\.hidden_size' is missing"),
    "negative": (lambda o, t: t.update(hidden_size=-1), r"hidden_size' is '-1', not a whole number"),
    "huge": (lambda o, t: t.update(num_hidden_layers=10**9), r"num_hidden_layers"),
    "text": (lambda o, t: t.update(num_experts="256"), r"num_experts"),
    "true": (lambda o, t: t.update(num_experts=True), r"num_experts"),
    "infinite": (lambda o, t: t.update(rms_norm_eps=1e400), r"Infinity is not JSON"),
    "K": (lambda o, t: t.update(num_experts_per_tok=257), r"num_experts_per_tok' exceeds the 256 experts"),
    "heads": (lambda o, t: t.update(num_key_value_heads=3), r"num_key_value_heads' does not divide 16"),
    "value heads": (lambda o, t: t.update(linear_num_key_heads=5), r"linear_num_key_heads' does not divide 32"),
    "types": (lambda o, t: t["layer_types"].__setitem__(0, "mamba"), r"layer_types"),
    "type count": (lambda o, t: t["layer_types"].pop(), r"layer_types' has 39 entries for 40 layers"),
    "contradiction": (lambda o, t: t.update(full_attention_interval=5), r"contradicts full_attention_interval 5"),
    "eos": (lambda o, t: t.update(eos_token_id=248320), r"eos_token_id' lies outside the vocabulary"),
    "eos kind": (lambda o, t: t.update(eos_token_id="x"), r"eos_token_id' is not a token id"),
    "mode": (
        lambda o, t: o["quantization"].update(mode="mxfp4"),
        r"quantization\.mode.*mxfp4.*supported: 'affine'",
    ),
    "method": (lambda o, t: o.update(quantization={"quant_method": "fp8"}), r"quant_method.*fp8"),
    "bits": (lambda o, t: o["quantization"].update(bits=3), r"quantization\.bits' is 3; supported: 4, 8"),
    "group": (lambda o, t: o["quantization"].update(group_size=16), r"group_size' is 16"),
    "override": (lambda o, t: o["quantization"].update({"a.b": {"bits": 2, "group_size": 64}}), r"a\.b\.bits"),
    "section": (lambda o, t: o.update(text_config=[1]), r"text_config' is not an object"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_by_name(case: str, tmp_path: Path) -> None:
    change, message = REFUSED[case]
    with pytest.raises(CheckpointError, match=message) as error:
        read_config(written(tmp_path, change))
    assert error.value.message.startswith("config.json: ")


def test_unquantised_default_and_overrides(tmp_path: Path) -> None:
    def change(outer: dict[str, Any], text: dict[str, Any]) -> None:
        outer["quantization"]["language_model.lm_head"] = False
        outer["quantization"]["language_model.model.embed_tokens"] = True

    quant = read_config(written(tmp_path, change)).quant
    assert quant.of("lm_head") is None and quant.of("embed_tokens") == Quantization(64, 4)
    plain = read_config(written(tmp_path, lambda o, t: [o.pop("quantization"), o.pop("quantization_config")])).quant
    assert plain.of("lm_head") is None and plain.default is None


def test_files_that_are_no_configuration(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"config\.json: cannot be opened"):
        read_config(tmp_path)
    (tmp_path / "config.json").write_bytes(b" " * (5 << 20))
    with pytest.raises(CheckpointError, match=r"config\.json: has 5,242,880 bytes, more than"):
        read_config(tmp_path)
    (tmp_path / "config.json").write_text("[" * 100_000)
    with pytest.raises(CheckpointError, match=r"config\.json: the file is nested too deeply"):
        read_config(tmp_path)
    written(tmp_path)
    (tmp_path / "generation_config.json").write_text("{")
    with pytest.raises(CheckpointError, match=r"generation_config\.json: the file is not valid JSON"):
        read_config(tmp_path)


PAIRS = [("", key) for key in config_json(full())] + [
    ("text_config", key) for key in config_json(replace(full(), flat_config=True))
]
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["bits", "type", "a.b"]), inner),
    max_leaves=4,
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(place=st.sampled_from(PAIRS), value=VALUES)
def test_any_value_anywhere_is_understood_or_refused(place: tuple[str, str], value: object, tmp_path: Path) -> None:
    section, key = place

    def change(outer: dict[str, Any], text: dict[str, Any]) -> None:
        (text if section else outer)[key] = value

    try:
        read_config(written(tmp_path, change))
    except CheckpointError as error:
        assert error.message.startswith("config.json: ") and error.message.isascii()
