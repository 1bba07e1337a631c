"""What is particular to writing a qwen3_5_moe checkpoint: its config.json and how its weights are spread."""

from __future__ import annotations

from math import sqrt

import numpy as np
import numpy.typing as npt

from engine.checkpoint.expected import ExpectedTensor
from engine.checkpoint.parts import Quantization
from engine.checkpoint.qwen3_5_moe.config import Qwen35MoeConfig
from engine.checkpoint.strict_json import JsonObject
from engine.checkpoint.synthetic.qwen3_5_text import text_style
from engine.checkpoint.synthetic.spec import SyntheticSpec

__all__ = ["config_json", "gain", "leftovers", "plain_values", "text_style"]

_SHIFTED = ("input_layernorm", "post_attention_layernorm", "q_norm", "k_norm", "norm")


def gain(module: str, inputs: int) -> float:
    """Standard deviation of a module's outputs when its inputs have one; embeddings: of their entries."""
    if module == "embed_tokens":
        return sqrt(inputs)
    if module == "lm_head":
        return 3.0
    # decided routers: their choice then differs from token to token, with weights that are not all alike
    return 2.0 if module.endswith("mlp.gate") else 1.0


def plain_values(t: ExpectedTensor, spec: SyntheticSpec, random: np.random.Generator) -> npt.NDArray[np.float32]:
    """Values of a tensor that is not quantised."""
    normal = random.standard_normal(t.shape, dtype=np.float32)
    module, _, suffix = t.name.rpartition(".")
    if suffix == "A_log":
        return np.log(random.uniform(0.1, 4.0, t.shape)).astype(np.float32)
    if suffix == "dt_bias":
        return random.uniform(-4.0, 0.0, t.shape).astype(np.float32)
    if module.endswith("conv1d"):
        return normal * np.float32(0.5)
    if module.endswith("linear_attn.norm"):
        return np.float32(0.9) + normal * np.float32(0.05)
    if module.rpartition(".")[2] in _SHIFTED:
        # clipped into [0.5, 2), where w + 1 and w are both exact in BF16
        stored = np.clip(np.round((1 + normal * np.float32(0.1)) * 128) / 128, 0.5, 1.9375).astype(np.float32)
        return stored - 1 if spec.raw_layout else stored
    return normal * np.float32(gain(module, t.shape[-1]) / sqrt(t.shape[-1]))


def leftovers(spec: SyntheticSpec) -> tuple[ExpectedTensor, ...]:
    """The published file has had its own stripped."""
    return ()


def config_json(spec: SyntheticSpec) -> JsonObject:
    """config.json as published: wrapper, text_config, vision leftovers, the quantisation twice."""
    c = spec.model
    if not isinstance(c, Qwen35MoeConfig):
        raise TypeError(f"{c.family} is another family's")
    text: JsonObject = {
        "model_type": "qwen3_5_moe_text",
        "hidden_size": c.hidden_size,
        "num_hidden_layers": c.num_hidden_layers,
        "num_attention_heads": c.num_attention_heads,
        "num_key_value_heads": c.num_key_value_heads,
        "head_dim": c.head_dim,
        "attn_output_gate": True,
        "attention_bias": False,
        "hidden_act": "silu",
        "rms_norm_eps": c.rms_norm_eps,
        "vocab_size": c.vocab_size,
        "max_position_embeddings": c.max_position_embeddings,
        "full_attention_interval": 4,
        "layer_types": list(c.layer_types),
        "linear_num_key_heads": c.linear_num_key_heads,
        "linear_num_value_heads": c.linear_num_value_heads,
        "linear_key_head_dim": c.linear_key_head_dim,
        "linear_value_head_dim": c.linear_value_head_dim,
        "linear_conv_kernel_dim": c.linear_conv_kernel_dim,
        "mamba_ssm_dtype": "float32",
        "num_experts": c.num_experts,
        "num_experts_per_tok": c.num_experts_per_tok,
        "moe_intermediate_size": c.moe_intermediate_size,
        "shared_expert_intermediate_size": c.shared_expert_intermediate_size,
        "router_aux_loss_coef": 0.001,
        "mtp_num_hidden_layers": 1,
        "tie_word_embeddings": c.tie_word_embeddings,
        "bos_token_id": spec.special_base,
        "eos_token_id": spec.special_base,
        "pad_token_id": None,
        "dtype": "bfloat16",
        "rope_parameters": {
            "rope_type": "default",
            "rope_theta": c.rope_theta,
            "partial_rotary_factor": c.rotary_dim / c.head_dim,
            "mrope_section": [11, 11, 10],
            "mrope_interleaved": True,
        },
    }
    quantization = _quantization(spec)
    outer: JsonObject = {"tie_word_embeddings": c.tie_word_embeddings}
    outer |= {"quantization": quantization, "quantization_config": quantization}
    if spec.flat_config:
        return {**text, **outer, "model_type": "qwen3_5_moe"}
    return {
        "architectures": ["Qwen3_5MoeForConditionalGeneration"],
        "model_type": "qwen3_5_moe",
        "text_config": text,
        "vision_config": {"model_type": "qwen3_5_moe", "depth": 27, "hidden_size": 1152},
        **outer,
    }


def _quantization(spec: SyntheticSpec) -> JsonObject:
    default = spec.quant.default or Quantization(64, 4)
    result: JsonObject = {"group_size": default.group_size, "bits": default.bits, "mode": "affine"}
    for module, q in spec.quant.overrides.items():
        result[spec.published(module)] = q and {"group_size": q.group_size, "bits": q.bits}
    return {key: False if value is None else value for key, value in result.items()}
