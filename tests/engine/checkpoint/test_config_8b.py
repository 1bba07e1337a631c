"""The 8B's config.json as published, and the relatives that are refused by name."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.checkpoint import Quantization
from engine.checkpoint.config import read_config
from engine.checkpoint.synthetic import REAL_8B, full_8b
from engine.checkpoint.synthetic.bailing_json import config_json
from engine.errors import CheckpointError

Change = Callable[[dict[str, Any]], object]


def written(directory: Path, change: Change = lambda c: None) -> Path:
    """A directory with the released 8B's config.json, changed."""
    config: dict[str, Any] = json.loads(json.dumps(config_json(full_8b())))
    change(config)
    (directory / "config.json").write_text(json.dumps(config))
    return directory


def test_as_published(tmp_path: Path) -> None:
    parsed = read_config(written(tmp_path))
    assert "model_type" not in parsed.raw and "auto_map" in parsed.raw
    assert parsed.model == REAL_8B and parsed.model.released_tier == "8b"
    assert parsed.quant.default == Quantization(64, 4) and not parsed.quant.overrides


def test_published_figures() -> None:
    """Against the published file itself, not against what the writer makes of our own fields."""
    config = config_json(full_8b())
    figures = {
        "eos_token_id": 156895, "pad_token_id": 156892, "rotary_dim": 64, "partial_rotary_factor": 0.5,
        "qk_head_dim": 192, "num_key_value_heads": 16, "layer_group_size": 4, "kda_lower_bound": -5,
        "moe_shared_expert_intermediate_size": 512, "rope_theta": 6000000, "vocab_size": 157184,
    }  # fmt: skip
    assert {key: config[key] for key in figures} == figures
    assert (REAL_8B.kda_dim, REAL_8B.qk_head_dim, REAL_8B.latent_dim) == (2048, 192, 576)
    assert (REAL_8B.experts_selectable, REAL_8B.head_features) == (64, 1792)


SAME: dict[str, Change] = {
    "with model_type": lambda c: c.update(model_type="bailing_moe_v3"),
    "as the upstream names it": lambda c: c.update(model_type="bailing_hybrid"),
    "by its keys": lambda c: c.pop("architectures"),
    "by its keys and type": lambda c: [c.pop("architectures"), c.update(model_type="bailing_hybrid")],
    "theta in rope_parameters": lambda c: c.pop("rope_theta"),
    "theta outside": lambda c: c.pop("rope_parameters"),
    "no rotary figures": lambda c: [c.pop("rotary_dim"), c.pop("partial_rotary_factor")],
    "nulls": lambda c: c.update(rope_scaling=None, layer_types=None, num_kv_heads_for_linear_attn=None),
    "layer types": lambda c: c.update(layer_types=(["linear_attention"] * 3 + ["full_attention"]) * 6),
    "plain scaling": lambda c: c.update(rope_scaling={"type": "default", "factor": 1.0}),
    "training's keys gone": lambda c: [c.pop(key) for key in list(c) if key.startswith(("pregate_", "auto_"))],
    "no qk norm": lambda c: c.update(use_qk_norm=False),
    "one quantization": lambda c: c.pop("quantization_config"),
}


@pytest.mark.parametrize("case", SAME)
def test_spellings_that_mean_the_same(case: str, tmp_path: Path) -> None:
    parsed = read_config(written(tmp_path, SAME[case]))
    assert parsed.model == REAL_8B and parsed.quant.default == Quantization(64, 4)


def setting(**values: object) -> Change:
    return lambda c: c.update(values)


def inside(key: str, **values: object) -> Change:
    return lambda c: c[key].update(values)


REFUSED: dict[str, tuple[Change, str]] = {
    # other architectures
    "family": (setting(architectures=["LlamaForCausalLM"], model_type="llama"), r"architecture 'llama' is not"),
    "before": (setting(architectures=["BailingMoeV2_5ForCausalLM"]), r"BailingMoeV2_5ForCausalLM.* is not supp"),
    "vision": (setting(architectures=["BailingMoeV3VLForConditionalGeneration"]), r"V3VL.* is not supported"),
    "no names": (lambda c: [c.pop("architectures"), c.pop("kda_safe_gate")], r"the architecture 'None'"),
    # relatives that would compute something else
    "mtp": (setting(num_nextn_predict_layers=1), r"num_nextn_predict_layers' is not 0: .*\(MTP\)"),
    "halves": (setting(rope_interleave=False), r"rope_interleave' is 'False'; supported: True"),
    "kda lora": (setting(no_kda_lora=False), r"no_kda_lora' is False; supported: True"),
    "kda lora by absence": (lambda c: c.pop("no_kda_lora"), r"no_kda_lora' is missing"),
    "gate law": (setting(kda_safe_gate=False), r"kda_safe_gate' is False; supported: True"),
    "gate law by absence": (lambda c: c.pop("kda_safe_gate"), r"kda_safe_gate' is missing"),
    "kda lora, other key": (setting(use_kda_lora=True), r"use_kda_lora"),
    "softmax": (setting(score_function="softmax"), r"score_function' is \"'softmax'\"; supported: 'sigmoid'"),
    "softmax, other key": (setting(scoring_func="softmax"), r"scoring_func"),
    "greedy": (setting(topk_method="greedy"), r"topk_method"),
    "raw weights": (setting(norm_topk_prob=False), r"norm_topk_prob"),
    "no bias": (setting(moe_router_enable_expert_bias=False), r"moe_router_enable_expert_bias"),
    "router type": (setting(router_dtype="bf16"), r"router_dtype"),
    "router input": (setting(scale_router_input=True), r"scale_router_input"),
    "group norm": (setting(group_norm_size=4), r"group_norm_size' is '4'; supported: 1"),
    "gate grain": (setting(gated_attention_proj_granularity_type="element_wise"), r"gated_attention_proj"),
    "linear silu": (setting(linear_silu=False), r"linear_silu"),
    "other linear": (setting(linear_attention="lightning"), r"linear_attention"),
    "key heads": (setting(num_kv_heads_for_linear_attn=8), r"num_kv_heads_for_linear_attn"),
    "qkv bias": (setting(use_qkv_bias=True), r"use_qkv_bias"),
    "bias": (setting(use_bias=True), r"use_bias"),
    "no rope": (setting(use_mla_nope=True), r"use_mla_nope"),
    "ngpt": (setting(use_nGPT=True), r"use_nGPT"),
    "value norm": (setting(value_norm=True), r"value_norm"),
    "up norm": (setting(up_proj_norm=True), r"up_proj_norm"),
    "limits": (setting(expert_swiglu_limit_list=[7.0] * 24), r"'expert_swiglu_limit_list' is set"),
    "shared limits": (setting(share_expert_swiglu_limit_list=[7.0]), r"share_expert_swiglu_limit_list' is set"),
    "activation": (setting(hidden_act="gelu"), r"hidden_act.*gelu.*supported: 'silu'"),
    "shared experts": (setting(num_shared_experts=2), r"num_shared_experts"),
    "yarn": (inside("rope_parameters", rope_type="yarn", factor=2.0), r"rope_parameters\.rope_type.*yarn"),
    "yarn, old": (setting(rope_scaling={"type": "yarn", "factor": 2}), r"rope_scaling\.type.*yarn"),
    "mrope": (inside("rope_parameters", rope_type="mrope"), r"rope_parameters\.rope_type"),
    "scaled": (inside("rope_parameters", factor=2.0), r"rope_parameters\.factor"),
    "rotary": (setting(rotary_dim=128), r"rotary_dim' is '128'; supported: 64"),
    "partial": (setting(partial_rotary_factor=0.25), r"partial_rotary_factor' rotates 32 dimensions, not 64"),
    "partial inside": (inside("rope_parameters", partial_rotary_factor=1.0), r"rope_parameters\.partial_rotary"),
    "two thetas": (setting(rope_theta=10000), r"'rope_theta' is '10000'; supported: 6000000"),
    "no theta": (lambda c: [c.pop("rope_theta"), c["rope_parameters"].pop("rope_theta")], r"rope_theta' is miss"),
    "grouped heads": (setting(num_key_value_heads=4), r"num_key_value_heads' is '4'; supported: 16"),
    "head size": (setting(qk_head_dim=128), r"qk_head_dim' is '128'; supported: 192"),
    "odd rotary": (
        lambda c: [c.update(qk_rope_head_dim=63, qk_head_dim=191, rotary_dim=63),
                   c.pop("partial_rotary_factor"), c.pop("rope_parameters")],
        r"qk_rope_head_dim' is 63: dimensions are rotated in pairs",
    ),
    "whole queries": (setting(q_lora_rank=None), r"q_lora_rank' is missing"),
    "schedule": (setting(layer_types=["full_attention"] * 24), r"layer_types' contradicts layer_group_size 4"),
    # groups
    "groups": (setting(n_group=7), r"n_group' is 7, which does not divide 128 experts"),
    "lone experts": (setting(n_group=128), r"n_group' leaves 1 expert in a group"),
    "kept groups": (setting(topk_group=9), r"topk_group' exceeds the 8 groups"),
    "K in groups": (setting(num_experts_per_tok=65), r"num_experts_per_tok' exceeds the 64 experts"),
    # bounds
    "missing": (lambda c: c.pop("hidden_size"), r"'hidden_size' is missing"),
    "negative": (setting(kv_lora_rank=-1), r"kv_lora_rank' is '-1', not a whole number"),
    "huge": (setting(num_hidden_layers=10**9), r"num_hidden_layers"),
    "text": (setting(num_experts="128"), r"num_experts"),
    "true": (setting(v_head_dim=True), r"v_head_dim"),
    "growing": (setting(kda_lower_bound=5), r"kda_lower_bound' is '5', not a number above -100"),
    "all dense": (setting(first_k_dense_replace=24), r"first_k_dense_replace"),
    "infinite": (setting(rms_norm_eps=1e400), r"Infinity is not JSON"),
    "eos": (setting(eos_token_id=157184), r"eos_token_id' lies outside the vocabulary"),
    "eos kind": (setting(eos_token_id="x"), r"eos_token_id' is not a token id"),
    "mode": (inside("quantization", mode="mxfp4"), r"quantization\.mode.*mxfp4.*supported: 'affine'"),
    "bits": (inside("quantization", bits=3), r"quantization\.bits' is 3; supported: 4, 8"),
    "group": (inside("quantization", group_size=16), r"group_size' is 16"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_refused_by_name(case: str, tmp_path: Path) -> None:
    change, message = REFUSED[case]
    with pytest.raises(CheckpointError, match=message) as error:
        read_config(written(tmp_path, change))
    assert error.value.message.startswith("config.json: ") and error.value.hint


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["bits", "type", "a.b"]), inner),
    max_leaves=4,
)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(key=st.sampled_from(sorted(config_json(full_8b()))), value=VALUES)
def test_any_value_anywhere_is_understood_or_refused(key: str, value: object, tmp_path: Path) -> None:
    try:
        read_config(written(tmp_path, lambda c: c.update({key: value})))
    except CheckpointError as error:
        assert error.message.startswith("config.json: ") and error.message.isascii()
