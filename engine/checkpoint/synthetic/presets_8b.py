"""The 8B's three scales: tiny for tests, a slice with real dimensions, the full one."""

from __future__ import annotations

from dataclasses import replace

from engine.checkpoint.bailing_moe_v3.config import BailingMoeV3Config, layer_types
from engine.checkpoint.parts import Quantization
from engine.checkpoint.quant import QuantSpec
from engine.checkpoint.synthetic.bailing_text import REAL_BASE, controls
from engine.checkpoint.synthetic.spec import PREFIXES, SyntheticSpec
from engine.errors import UsageError

# The released 8B (facts: checkpoints.md §1b).
REAL_8B = BailingMoeV3Config(
    hidden_size=1536,
    num_hidden_layers=24,
    vocab_size=157184,
    num_experts=128,
    num_experts_per_tok=8,
    norm_topk_prob=True,
    moe_intermediate_size=512,
    rms_norm_eps=1e-6,
    max_position_embeddings=131072,
    tie_word_embeddings=False,
    eos_token_ids=(156895,),
    layer_types=layer_types(24),
    num_attention_heads=16,
    head_dim=128,
    short_conv_kernel_size=4,
    kda_lower_bound=-5.0,
    q_lora_rank=256,
    kv_lora_rank=512,
    qk_nope_head_dim=128,
    qk_rope_head_dim=64,
    v_head_dim=128,
    rope_theta=6e6,
    n_group=8,
    topk_group=4,
    routed_scaling_factor=2.5,
    first_k_dense_replace=1,
    intermediate_size=4608,
    shared_expert_intermediate_size=512,
)

TINY_8B = replace(
    REAL_8B,
    hidden_size=128,
    num_hidden_layers=8,
    vocab_size=512,
    num_experts=16,
    num_experts_per_tok=4,
    moe_intermediate_size=64,
    max_position_embeddings=4096,
    eos_token_ids=(450,),
    layer_types=layer_types(8),
    num_attention_heads=4,
    head_dim=32,
    q_lora_rank=64,
    kv_lora_rank=64,
    qk_nope_head_dim=32,
    qk_rope_head_dim=16,
    v_head_dim=32,
    n_group=4,
    topk_group=2,
    intermediate_size=192,
    shared_expert_intermediate_size=64,
)


def tiny_8b() -> SyntheticSpec:
    """About 1 MB: 8 layers, 16 experts in 4 groups of which 4 run, heads at layers 2 to 6, serving 3 to 7."""
    spec = _spec(TINY_8B, owners=range(2, 7))
    return replace(spec, special_base=448, head_hidden=32, lora_rank=4, lora_alpha=8)


def sliced_8b(layers: int = 4, vocab_size: int = 4096) -> SyntheticSpec:
    """The released 8B's dimensions with fewer layers and, unless asked otherwise, a small vocabulary.

    Raises UsageError below 2 layers: the first has no experts.
    """
    if layers < 2:
        raise UsageError(f"A slice of {layers} layers has no experts.", "Ask for 2 or more.")
    special = REAL_BASE if vocab_size == REAL_8B.vocab_size else vocab_size - 64
    model = replace(
        REAL_8B,
        num_hidden_layers=layers,
        vocab_size=vocab_size,
        layer_types=layer_types(layers),
        eos_token_ids=(controls(special)["<|role_end|>"],),
    )
    return replace(_spec(model, owners=range(max(1, min(7, layers // 3)), layers - 1)), special_base=special)


def full_8b() -> SyntheticSpec:
    """The released 8B: 24 layers, 1,196 tensors in one file of 4.5 GB, 153 adapter targets, 16 heads."""
    return _spec(REAL_8B, owners=range(7, 23))


def _spec(model: BailingMoeV3Config, owners: range) -> SyntheticSpec:
    """One file that starts its data aligned, names without a wrapper, convolutions as torch has them."""
    return SyntheticSpec(
        model=model,
        quant=QuantSpec(Quantization(64, 4)),
        experts_per_token=model.num_experts_per_tok,
        odd_headers=False,
        prefix=PREFIXES[2],
        raw_layout=True,
        owners=tuple(owners),
        special_base=REAL_BASE,
    )
