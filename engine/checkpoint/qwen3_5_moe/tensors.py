"""Every tensor of a qwen3_5_moe checkpoint (facts: checkpoints.md §2a), and what its adapters adapt (§3a)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from engine.checkpoint.parts import LinearPart, Part, PlainPart

if TYPE_CHECKING:
    from engine.checkpoint.qwen3_5_moe.config import Qwen35MoeConfig

GDN_LORA = ("in_proj_qkv", "in_proj_z", "in_proj_a", "in_proj_b", "out_proj")
ATTENTION_LORA = ("q_proj", "k_proj", "v_proj", "o_proj")
SHARED_LORA = ("gate_proj", "up_proj", "down_proj")


def parts(c: Qwen35MoeConfig, raw_layout: bool) -> tuple[Part, ...]:
    """All parts in file order, canonical names. `raw_layout`: convolutions [C, 1, k] instead of [C, k, 1]."""
    return tuple(_parts(c, raw_layout))


def _parts(c: Qwen35MoeConfig, raw_layout: bool) -> Iterator[Part]:
    yield LinearPart("embed_tokens", c.vocab_size, c.hidden_size)
    for layer in range(c.num_hidden_layers):
        at = f"layers.{layer}"
        yield PlainPart(f"{at}.input_layernorm.weight", (c.hidden_size,), shifted=True)
        if layer in c.attention_layers:
            yield from _attention(c, f"{at}.self_attn")
        else:
            yield from _delta_net(c, f"{at}.linear_attn", raw_layout)
        yield PlainPart(f"{at}.post_attention_layernorm.weight", (c.hidden_size,), shifted=True)
        yield from _experts(c, f"{at}.mlp")
    yield PlainPart("norm.weight", (c.hidden_size,), shifted=True)
    if not c.tie_word_embeddings:
        yield LinearPart("lm_head", c.vocab_size, c.hidden_size)


def _attention(c: Qwen35MoeConfig, at: str) -> Iterator[Part]:
    queries, keys = c.num_attention_heads * c.head_dim, c.num_key_value_heads * c.head_dim
    # per head: head_dim rows of query, then head_dim rows of output gate
    yield LinearPart(f"{at}.q_proj", 2 * queries, c.hidden_size)
    yield LinearPart(f"{at}.k_proj", keys, c.hidden_size)
    yield LinearPart(f"{at}.v_proj", keys, c.hidden_size)
    yield LinearPart(f"{at}.o_proj", c.hidden_size, queries)
    yield PlainPart(f"{at}.q_norm.weight", (c.head_dim,), shifted=True)
    yield PlainPart(f"{at}.k_norm.weight", (c.head_dim,), shifted=True)


def _delta_net(c: Qwen35MoeConfig, at: str, raw_layout: bool) -> Iterator[Part]:
    kernel, heads = c.linear_conv_kernel_dim, c.linear_num_value_heads
    yield LinearPart(f"{at}.in_proj_qkv", c.conv_dim, c.hidden_size)
    yield LinearPart(f"{at}.in_proj_z", c.linear_value_dim, c.hidden_size)
    yield LinearPart(f"{at}.in_proj_a", heads, c.hidden_size)
    yield LinearPart(f"{at}.in_proj_b", heads, c.hidden_size)
    yield LinearPart(f"{at}.out_proj", c.hidden_size, c.linear_value_dim)
    yield PlainPart(f"{at}.conv1d.weight", (c.conv_dim, 1, kernel) if raw_layout else (c.conv_dim, kernel, 1))
    yield PlainPart(f"{at}.A_log", (heads,))
    yield PlainPart(f"{at}.dt_bias", (heads,))
    yield PlainPart(f"{at}.norm.weight", (c.linear_value_head_dim,))


def _experts(c: Qwen35MoeConfig, at: str) -> Iterator[Part]:
    hidden, inner, shared = c.hidden_size, c.moe_intermediate_size, c.shared_expert_intermediate_size
    yield LinearPart(f"{at}.gate", c.num_experts, hidden)
    yield LinearPart(f"{at}.shared_expert_gate", 1, hidden)
    yield LinearPart(f"{at}.shared_expert.gate_proj", shared, hidden)
    yield LinearPart(f"{at}.shared_expert.up_proj", shared, hidden)
    yield LinearPart(f"{at}.shared_expert.down_proj", hidden, shared)
    yield LinearPart(f"{at}.switch_mlp.gate_proj", inner, hidden, c.num_experts)
    yield LinearPart(f"{at}.switch_mlp.up_proj", inner, hidden, c.num_experts)
    yield LinearPart(f"{at}.switch_mlp.down_proj", hidden, inner, c.num_experts)


def lora_targets(c: Qwen35MoeConfig) -> tuple[str, ...]:
    """The modules the published adapters adapt: 310 at the released sizes."""
    targets: list[str] = []
    for layer in range(c.num_hidden_layers):
        at = f"layers.{layer}"
        if layer in c.attention_layers:
            targets += [f"{at}.self_attn.{name}" for name in ATTENTION_LORA]
        else:
            targets += [f"{at}.linear_attn.{name}" for name in GDN_LORA]
        targets += [f"{at}.mlp.shared_expert.{name}" for name in SHARED_LORA]
    return tuple(targets)
