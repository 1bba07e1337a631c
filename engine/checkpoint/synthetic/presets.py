"""The three scales: tiny for tests, a slice with real dimensions, the full 35B."""

from __future__ import annotations

from dataclasses import replace

from engine.checkpoint.qwen3_5_moe.config import Qwen35MoeConfig
from engine.checkpoint.synthetic.spec import SyntheticSpec, layer_types, published_quant

# The released 35B (facts: checkpoints.md §1a); its config says 8 experts a token, it runs 4.
REAL_35B = Qwen35MoeConfig(
    hidden_size=2048,
    num_hidden_layers=40,
    vocab_size=248320,
    num_experts=256,
    num_experts_per_tok=8,
    norm_topk_prob=True,
    moe_intermediate_size=512,
    rms_norm_eps=1e-6,
    max_position_embeddings=262144,
    tie_word_embeddings=False,
    eos_token_ids=(248044, 248046),
    layer_types=layer_types(40),
    num_attention_heads=16,
    num_key_value_heads=2,
    head_dim=256,
    rotary_dim=64,
    rope_theta=1e7,
    attn_output_gate=True,
    linear_num_key_heads=16,
    linear_num_value_heads=32,
    linear_key_head_dim=128,
    linear_value_head_dim=128,
    linear_conv_kernel_dim=4,
    shared_expert_intermediate_size=512,
)

TINY = replace(
    REAL_35B,
    hidden_size=128,
    num_hidden_layers=8,
    vocab_size=512,
    num_experts=16,
    num_experts_per_tok=4,
    moe_intermediate_size=64,
    max_position_embeddings=4096,
    eos_token_ids=(448, 450),
    layer_types=layer_types(8),
    num_attention_heads=4,
    head_dim=32,
    rotary_dim=8,
    linear_num_key_heads=2,
    linear_num_value_heads=4,
    linear_key_head_dim=32,
    linear_value_head_dim=32,
    shared_expert_intermediate_size=64,
)


def tiny() -> SyntheticSpec:
    """About 1 MB: 8 layers, 16 experts of which 4 run, 3 shards at odd offsets, heads at layers 2 to 6."""
    return SyntheticSpec(
        model=TINY,
        quant=published_quant(8),
        experts_per_token=4,
        shards=3,
        owners=(2, 3, 4, 5, 6),
        head_hidden=32,
        lora_rank=4,
        lora_alpha=8,
    )


def sliced(layers: int = 4, vocab_size: int = 4096) -> SyntheticSpec:
    """The released 35B's dimensions with fewer layers and, unless asked otherwise, a small vocabulary."""
    real_vocabulary = vocab_size == REAL_35B.vocab_size
    special = 248044 if real_vocabulary else vocab_size - 64
    model = replace(
        REAL_35B,
        num_hidden_layers=layers,
        vocab_size=vocab_size,
        layer_types=layer_types(layers),
        eos_token_ids=(special, special + 2),
    )
    return SyntheticSpec(
        model=model,
        quant=published_quant(layers),
        experts_per_token=4,
        shards=2,
        owners=tuple(range(min(6, layers // 4), layers - 1)),
        special_base=special,
    )


def full() -> SyntheticSpec:
    """The released 35B: 40 layers, 1,757 tensors, 19.5 GB in four shards, 310 adapter targets, 33 heads."""
    return SyntheticSpec(
        model=REAL_35B,
        quant=published_quant(40),
        experts_per_token=4,
        shards=4,
        owners=tuple(range(6, 39)),
        special_base=248044,
    )
