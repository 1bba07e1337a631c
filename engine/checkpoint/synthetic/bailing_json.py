"""config.json of the 8B as published: flat, no model_type, training's keys left in, the quantisation twice."""

from __future__ import annotations

from engine.checkpoint.bailing_moe_v3.config import BailingMoeV3Config
from engine.checkpoint.parts import Quantization
from engine.checkpoint.strict_json import JsonObject
from engine.checkpoint.synthetic.bailing_text import controls
from engine.checkpoint.synthetic.spec import SyntheticSpec

# What the published file says that does not depend on sizes (facts: checkpoints.md §1b).
_SAID: JsonObject = {
    "architectures": ["BailingMoeV3ForCausalLM"],
    "auto_map": {
        "AutoConfig": "configuration_bailing_moe_v3.BailingMoeV3Config",
        "AutoModelForCausalLM": "modeling_bailing_moe_v3.BailingMoeV3ForCausalLM",
    },
    "dtype": "bfloat16",
    "expert_swiglu_limit_list": None,
    "gated_attention_proj_granularity_type": "head_wise",
    "group_norm_size": 1,
    "hidden_act": "silu",
    "kda_safe_gate": True,
    "linear_silu": True,
    "moe_router_enable_expert_bias": True,
    "no_kda_lora": True,
    "num_kv_heads_for_linear_attn": 0,
    "num_nextn_predict_layers": 0,
    "num_shared_experts": 1,
    "pregate_enabled": True,
    "pregate_inference": False,
    "rope_interleave": True,
    "router_dtype": "fp32",
    "scale_router_input": False,
    "score_function": "sigmoid",
    "scoring_func": "sigmoid",
    "share_expert_swiglu_limit_list": None,
    "topk_method": "noaux_tc",
    "up_proj_norm": False,
    "use_bias": False,
    "use_kda_lora": False,
    "use_mla_nope": False,
    "use_nGPT": False,
    "use_qk_norm": True,
    "use_qkv_bias": False,
    "value_norm": False,
}
# Keys that are our fields' names.
_SAME = (
    "first_k_dense_replace", "head_dim", "hidden_size", "intermediate_size", "kda_lower_bound", "kv_lora_rank",
    "max_position_embeddings", "moe_intermediate_size", "n_group", "norm_topk_prob", "num_attention_heads",
    "num_experts", "num_experts_per_tok", "num_hidden_layers", "q_lora_rank", "qk_head_dim", "qk_nope_head_dim",
    "qk_rope_head_dim", "rms_norm_eps", "rope_theta", "routed_scaling_factor", "short_conv_kernel_size",
    "tie_word_embeddings", "topk_group", "v_head_dim", "vocab_size",
)  # fmt: skip


def config_json(spec: SyntheticSpec) -> JsonObject:
    """The file's content. `layer_group_size` is 4, as in every preset."""
    c = spec.model
    if not isinstance(c, BailingMoeV3Config):
        raise TypeError(f"{c.family} is another family's")
    rotated = c.qk_rope_head_dim / c.head_dim
    ids = controls(spec.special_base)
    q = spec.quant.default or Quantization(64, 4)
    quantization = {"group_size": q.group_size, "bits": q.bits, "mode": "affine"}
    return {
        **_SAID,
        **{key: getattr(c, key) for key in _SAME},
        "layer_group_size": 4,
        "moe_shared_expert_intermediate_size": c.shared_expert_intermediate_size,
        "num_key_value_heads": c.num_attention_heads,
        "partial_rotary_factor": rotated,
        "rope_parameters": {
            "partial_rotary_factor": rotated,
            "rope_theta": c.rope_theta,
            "rope_type": "default",
        },
        "rotary_dim": c.qk_rope_head_dim,
        "eos_token_id": ids["<|role_end|>"],
        "pad_token_id": ids["<|endoftext|>"],
        "quantization": quantization,
        "quantization_config": dict(quantization),
    }
