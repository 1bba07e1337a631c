"""The small JSON files of the checkpoint, nested and named as the published ones."""

from __future__ import annotations

from typing import Any

from training.config import NanoConfig

END, TURN_START, TURN_END = "<|endoftext|>", "<|im_start|>", "<|im_end|>"


def quantisation(c: NanoConfig) -> dict[str, Any]:
    """int4 in groups of 64, with the 8-bit overrides by module path."""
    out: dict[str, Any] = {"group_size": 64, "bits": 4, "mode": "affine"}
    for i in range(c.layers):
        for name in ("gate", "shared_expert_gate"):
            out[f"language_model.model.layers.{i}.mlp.{name}"] = {"group_size": 64, "bits": 8}
    return out


def text_config(c: NanoConfig, ids: dict[str, int]) -> dict[str, Any]:
    """The language model's own settings."""
    kinds = ["full_attention" if c.is_attention(i) else "linear_attention" for i in range(c.layers)]
    return {
        "model_type": "qwen3_5_moe_text",
        "hidden_size": c.hidden,
        "num_hidden_layers": c.layers,
        "num_attention_heads": c.heads,
        "num_key_value_heads": c.kv_heads,
        "head_dim": c.head_dim,
        "attn_output_gate": True,
        "attention_bias": False,
        "hidden_act": "silu",
        "rms_norm_eps": c.eps,
        "vocab_size": c.vocab,
        "max_position_embeddings": c.max_positions,
        "full_attention_interval": c.attention_interval,
        "layer_types": kinds,
        "linear_num_key_heads": c.key_heads,
        "linear_num_value_heads": c.value_heads,
        "linear_key_head_dim": c.key_dim,
        "linear_value_head_dim": c.value_dim,
        "linear_conv_kernel_dim": c.conv_kernel,
        "mamba_ssm_dtype": "float32",
        "num_experts": c.experts,
        "num_experts_per_tok": c.top_k,
        "moe_intermediate_size": c.expert_dim,
        "shared_expert_intermediate_size": c.shared_dim,
        "tie_word_embeddings": False,
        "bos_token_id": ids[END],
        "eos_token_id": ids[END],
        "pad_token_id": None,
        "dtype": "bfloat16",
        "rope_parameters": {
            "rope_type": "default",
            "rope_theta": c.rope_theta,
            "partial_rotary_factor": c.rotary_factor,
        },
    }


def config_json(c: NanoConfig, ids: dict[str, int]) -> dict[str, Any]:
    """config.json."""
    return {
        "architectures": ["Qwen3_5MoeForConditionalGeneration"],
        "model_type": "qwen3_5_moe",
        "text_config": text_config(c, ids),
        "tie_word_embeddings": False,
        "eos_token_id": [ids[TURN_END], ids[END]],
        "quantization": quantisation(c),
        "quantization_config": quantisation(c),
    }


def generation_json(ids: dict[str, int]) -> dict[str, Any]:
    """generation_config.json: nano knows its answers by heart, so it is best read greedily."""
    return {
        "bos_token_id": ids[END],
        "eos_token_id": [ids[TURN_END], ids[END]],
        "pad_token_id": ids[END],
        "do_sample": False,
        "temperature": 0.0,
    }


def tokenizer_json(c: NanoConfig, ids: dict[str, int]) -> dict[str, Any]:
    """tokenizer_config.json."""
    return {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "add_bos_token": False,
        "add_prefix_space": False,
        "clean_up_tokenization_spaces": False,
        "bos_token": None,
        "eos_token": TURN_END,
        "pad_token": END,
        "unk_token": None,
        "additional_special_tokens": [TURN_START, TURN_END],
        "model_max_length": c.max_positions,
        "added_tokens_decoder": {
            str(i): {
                "content": text,
                "lstrip": False,
                "normalized": False,
                "rstrip": False,
                "single_word": False,
                "special": text.startswith("<|"),
            }
            for text, i in sorted(ids.items(), key=lambda item: item[1])
        },
    }
