"""config.json of a bailing_moe_v3 checkpoint: flat, and as published without a model_type."""

from __future__ import annotations

from engine.checkpoint.bailing_moe_v3.config import BailingMoeV3Config, layer_types
from engine.checkpoint.bailing_moe_v3.variants import refuse_variants, rope_theta
from engine.checkpoint.fields import Fields

ARCHITECTURE = "BailingMoeV3ForCausalLM"
# bailing_hybrid names the generation before as well, which has none of OWN_KEYS
MODEL_TYPES = ("bailing_moe_v3", "bailing_hybrid")
OWN_KEYS = ("kda_safe_gate", "kda_lower_bound", "kv_lora_rank")


def recognises(config: Fields) -> bool:
    """Whether a config.json belongs to this family: by its architecture, or where it names none by its keys."""
    architectures = config.raw.get("architectures")
    if isinstance(architectures, list) and architectures:
        return ARCHITECTURE in architectures
    return config.raw.get("model_type") in (None, *MODEL_TYPES) and all(config.has(key) for key in OWN_KEYS)


def parse(config: Fields, eos: tuple[int, ...]) -> BailingMoeV3Config:
    """The family's configuration. `eos`: further stop ids, from generation_config.json.

    Raises CheckpointError naming the key for anything missing, out of bounds, or not computed by this engine.
    """
    refuse_variants(config)
    layers = config.integer("num_hidden_layers", high=1024)
    result = BailingMoeV3Config(
        hidden_size=config.integer("hidden_size", high=1 << 16),
        num_hidden_layers=layers,
        layer_types=layer_types(layers, config.integer("layer_group_size", high=1024)),
        num_attention_heads=config.integer("num_attention_heads", high=1024),
        head_dim=config.integer("head_dim", high=4096),
        short_conv_kernel_size=config.integer("short_conv_kernel_size", low=2, high=16),
        kda_lower_bound=config.number("kda_lower_bound", low=-100, high=-0.001),
        q_lora_rank=config.integer("q_lora_rank", high=1 << 16),
        kv_lora_rank=config.integer("kv_lora_rank", high=1 << 16),
        qk_nope_head_dim=config.integer("qk_nope_head_dim", high=4096),
        qk_rope_head_dim=config.integer("qk_rope_head_dim", low=2, high=4096),
        v_head_dim=config.integer("v_head_dim", high=4096),
        rope_theta=rope_theta(config),
        num_experts=config.integer("num_experts", high=1 << 16),
        num_experts_per_tok=config.integer("num_experts_per_tok", high=1024),
        norm_topk_prob=config.flag("norm_topk_prob"),
        n_group=config.integer("n_group", high=1 << 16),
        topk_group=config.integer("topk_group", high=1 << 16),
        routed_scaling_factor=config.number("routed_scaling_factor", high=1000),
        first_k_dense_replace=config.integer("first_k_dense_replace", low=0, high=layers - 1),
        intermediate_size=config.integer("intermediate_size", high=1 << 18),
        moe_intermediate_size=config.integer("moe_intermediate_size", high=1 << 16),
        shared_expert_intermediate_size=config.integer("moe_shared_expert_intermediate_size", high=1 << 16),
        vocab_size=config.integer("vocab_size", high=1 << 22),
        rms_norm_eps=config.number("rms_norm_eps", 1e-6, high=0.1),
        max_position_embeddings=config.integer("max_position_embeddings"),
        tie_word_embeddings=config.flag("tie_word_embeddings", False),
        eos_token_ids=tuple(sorted({*config.integers("eos_token_id"), *eos})),
    )
    _check_ratios(config, result)
    return result


def _check_ratios(config: Fields, c: BailingMoeV3Config) -> None:
    config.only("num_key_value_heads", c.num_attention_heads)
    config.only("qk_head_dim", c.qk_head_dim)
    if c.qk_rope_head_dim % 2:
        raise config.fault("qk_rope_head_dim", f"is {c.qk_rope_head_dim}: dimensions are rotated in pairs")
    if c.num_experts % c.n_group:
        raise config.fault("n_group", f"is {c.n_group}, which does not divide {c.num_experts} experts")
    if c.num_experts // c.n_group < c.group_scores:
        raise config.fault("n_group", f"leaves {c.num_experts // c.n_group} expert in a group of {c.num_experts}")
    if c.topk_group > c.n_group:
        raise config.fault("topk_group", f"exceeds the {c.n_group} groups")
    if c.num_experts_per_tok > c.experts_selectable:
        raise config.fault("num_experts_per_tok", f"exceeds the {c.experts_selectable} experts")
    if c.eos_token_ids and c.eos_token_ids[-1] >= c.vocab_size:
        raise config.fault("eos_token_id", f"lies outside the vocabulary of {c.vocab_size}")
