"""config.json of a qwen3_5_moe checkpoint: nested under text_config or flat, every published spelling of rope."""

from __future__ import annotations

from engine.checkpoint.fields import Fields
from engine.checkpoint.qwen3_5_moe.config import FULL, LINEAR, Qwen35MoeConfig

MODEL_TYPES = ("qwen3_5_moe", "qwen3_5_moe_text")


def recognises(config: Fields) -> bool:
    """Whether a config.json belongs to this family, by its model_type."""
    return config.raw.get("model_type") in MODEL_TYPES


def parse(config: Fields, eos: tuple[int, ...]) -> Qwen35MoeConfig:
    """The family's configuration. `eos`: further stop ids, from generation_config.json.

    Raises CheckpointError naming the key for anything missing, out of bounds, or not computed by this engine.
    """
    text = config.section("text_config") if config.has("text_config") else config
    _refuse_variants(text)
    theta, rotary_dim = _rope(text)
    layers = text.integer("num_hidden_layers", high=1024)
    result = Qwen35MoeConfig(
        hidden_size=text.integer("hidden_size", high=1 << 16),
        num_hidden_layers=layers,
        layer_types=_layer_types(text, layers),
        num_attention_heads=text.integer("num_attention_heads", high=1024),
        num_key_value_heads=text.integer("num_key_value_heads", high=1024),
        head_dim=_head_dim(text),
        rotary_dim=rotary_dim,
        rope_theta=theta,
        attn_output_gate=text.flag("attn_output_gate", True),
        linear_num_key_heads=text.integer("linear_num_key_heads", high=1024),
        linear_num_value_heads=text.integer("linear_num_value_heads", high=1024),
        linear_key_head_dim=text.integer("linear_key_head_dim", high=4096),
        linear_value_head_dim=text.integer("linear_value_head_dim", high=4096),
        linear_conv_kernel_dim=text.integer("linear_conv_kernel_dim", 4, low=2, high=16),
        num_experts=text.integer("num_experts", high=1 << 16),
        num_experts_per_tok=text.integer("num_experts_per_tok", high=1024),
        norm_topk_prob=text.flag("norm_topk_prob", True),
        moe_intermediate_size=text.integer("moe_intermediate_size", high=1 << 16),
        shared_expert_intermediate_size=text.integer("shared_expert_intermediate_size", high=1 << 16),
        vocab_size=text.integer("vocab_size", high=1 << 22),
        rms_norm_eps=text.number("rms_norm_eps", 1e-6, high=0.1),
        max_position_embeddings=text.integer("max_position_embeddings"),
        tie_word_embeddings=text.flag("tie_word_embeddings", config.flag("tie_word_embeddings", False)),
        eos_token_ids=tuple(sorted({*config.integers("eos_token_id"), *text.integers("eos_token_id"), *eos})),
    )
    _check_ratios(text, result)
    return result


def _refuse_variants(text: Fields) -> None:
    text.only("hidden_act", "silu")
    text.only("attention_bias", False)
    text.only("attn_output_gate", True)
    text.only("use_sliding_window", False)
    text.only("decoder_sparse_step", 1)
    text.only("mlp_only_layers", [])


def _head_dim(text: Fields) -> int:
    default = text.integer("hidden_size", high=1 << 16) // text.integer("num_attention_heads", high=1024)
    return text.integer("head_dim", default or None, high=4096)


def _rope(text: Fields) -> tuple[float, int]:
    """(theta, rotated dimensions of each head); each value is looked for in both places it is published in."""
    nested = text.section("rope_parameters")
    for section in (nested, text.section("rope_scaling")):
        for key in ("rope_type", "type"):
            # "mrope" only interleaves image positions: for text the three streams are equal
            section.only(key, "default", "mrope")
        section.only("factor", 1, 1.0)
    theta = (nested if nested.has("rope_theta") else text).number("rope_theta")
    place = nested if nested.has("partial_rotary_factor") else text
    factor = place.number("partial_rotary_factor", 0.25, high=1.0)
    rotary = int(_head_dim(text) * factor)
    if rotary < 2 or rotary % 2:
        raise place.fault("partial_rotary_factor", f"rotates {rotary} dimensions of a head, not an even number")
    return theta, rotary


def _layer_types(text: Fields, layers: int) -> tuple[str, ...]:
    interval = text.integer("full_attention_interval", 4, high=1024)
    by_interval = tuple(FULL if (i + 1) % interval == 0 else LINEAR for i in range(layers))
    listed = text.raw.get("layer_types")
    if listed is None:
        return by_interval
    if not isinstance(listed, list) or any(kind not in (LINEAR, FULL) for kind in listed):
        raise text.fault("layer_types", f"is not a list of {LINEAR} and {FULL}")
    if len(listed) != layers:
        raise text.fault("layer_types", f"has {len(listed)} entries for {layers} layers")
    if text.has("full_attention_interval") and tuple(listed) != by_interval:
        raise text.fault("layer_types", f"contradicts full_attention_interval {interval}")
    return tuple(listed)


def _check_ratios(text: Fields, c: Qwen35MoeConfig) -> None:
    if c.num_attention_heads % c.num_key_value_heads:
        raise text.fault("num_key_value_heads", f"does not divide {c.num_attention_heads} attention heads")
    if c.linear_num_value_heads % c.linear_num_key_heads:
        raise text.fault("linear_num_key_heads", f"does not divide {c.linear_num_value_heads} value heads")
    if c.num_experts_per_tok > c.num_experts:
        raise text.fault("num_experts_per_tok", f"exceeds the {c.num_experts} experts")
    if c.eos_token_ids and c.eos_token_ids[-1] >= c.vocab_size:
        raise text.fault("eos_token_id", f"lies outside the vocabulary of {c.vocab_size}")
