"""The relatives of the released 8B that would load and compute something else: refused by name."""

from __future__ import annotations

from engine.checkpoint.bailing_moe_v3.config import layer_types
from engine.checkpoint.fields import Fields

# Absent means otherwise in the original code: these must be there and true.
REQUIRED = ("kda_safe_gate", "no_kda_lora")
# What this engine computes; absent means the same.
FIXED: dict[str, tuple[object, ...]] = {
    "hidden_act": ("silu",),
    "linear_silu": (True,),
    "use_bias": (False,),
    "use_qkv_bias": (False,),
    "use_kda_lora": (False,),
    "use_mla_nope": (False,),
    "use_nGPT": (False,),
    "value_norm": (False,),
    "up_proj_norm": (False,),
    "group_norm_size": (1,),
    "num_kv_heads_for_linear_attn": (0,),
    "linear_attention": ("kda",),
    "gated_attention_proj_granularity_type": ("head_wise",),
    "rope_interleave": (True,),
    "score_function": ("sigmoid",),
    "scoring_func": ("sigmoid",),
    "topk_method": ("noaux_tc",),
    "router_dtype": ("fp32", "float32"),
    "norm_topk_prob": (True,),
    "scale_router_input": (False,),
    "moe_router_enable_expert_bias": (True,),
    "num_shared_experts": (1,),
}
# Lists of limits, a layer each, that this engine does not apply.
LIMITS = ("expert_swiglu_limit_list", "share_expert_swiglu_limit_list")
BASE = "The base model (Ling 3.0) has such layers; fetch Edge0's own checkpoint."


def refuse_variants(config: Fields) -> None:
    """Raises CheckpointError naming the key."""
    if config.integer("num_nextn_predict_layers", 0, low=0, high=1024):
        raise config.fault("num_nextn_predict_layers", "is not 0: layers that predict further tokens (MTP)", BASE)
    for key in REQUIRED:
        if not config.flag(key):
            raise config.fault(key, "is False; supported: True")
    for key, accepted in FIXED.items():
        config.only(key, *accepted)
    for key in LIMITS:
        if config.has(key):
            raise config.fault(key, "is set; supported: null")
    _layer_types(config)


def rope_theta(config: Fields) -> float:
    """The base of the rotation, which must be plain and of exactly the qk_rope_head_dim dimensions.

    Looked for in both places it is published in; they must agree.
    """
    nested, scaling = config.section("rope_parameters"), config.section("rope_scaling")
    for section in (nested, scaling):
        for key in ("rope_type", "type"):
            section.only(key, "default")
        section.only("factor", 1)
    rotated = config.integer("qk_rope_head_dim", high=4096)
    config.only("rotary_dim", rotated)
    for place in (nested, config):
        if place.has("partial_rotary_factor"):
            part = place.number("partial_rotary_factor", high=1.0) * config.integer("head_dim", high=4096)
            if part != rotated:
                raise place.fault("partial_rotary_factor", f"rotates {part:g} dimensions, not {rotated}")
    theta = (nested if nested.has("rope_theta") else config).number("rope_theta")
    config.only("rope_theta", theta)
    return theta


def _layer_types(config: Fields) -> None:
    listed = config.raw.get("layer_types")
    group = config.integer("layer_group_size", high=1024)
    ours = layer_types(config.integer("num_hidden_layers", high=1024), group)
    if listed is not None and listed != [{"kda": "linear_attention", "mla": "full_attention"}[t] for t in ours]:
        raise config.fault("layer_types", f"contradicts layer_group_size {group}")
