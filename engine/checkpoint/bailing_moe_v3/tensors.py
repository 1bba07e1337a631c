"""Every tensor of a bailing_moe_v3 checkpoint (facts: checkpoints.md §2b), and what its adapters adapt (§3a)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from engine.checkpoint.parts import LinearPart, Part, PlainPart

if TYPE_CHECKING:
    from engine.checkpoint.bailing_moe_v3.config import BailingMoeV3Config

KDA_LORA = ("q_proj", "k_proj", "v_proj", "f_proj", "g_proj", "b_proj", "o_proj")
MLA_LORA = ("q_b_proj", "kv_b_proj", "g_proj", "dense")
GLU = ("gate_proj", "up_proj", "down_proj")


def parts(c: BailingMoeV3Config, raw_layout: bool) -> tuple[Part, ...]:
    """All parts in file order, by canonical names.

    `raw_layout`: convolutions [C, 1, k], as published, not [C, k, 1].
    """
    return tuple(_parts(c, raw_layout))


def _parts(c: BailingMoeV3Config, raw_layout: bool) -> Iterator[Part]:
    yield LinearPart("word_embeddings", c.vocab_size, c.hidden_size)
    for layer in range(c.num_hidden_layers):
        at = f"layers.{layer}"
        yield PlainPart(f"{at}.input_layernorm.weight", (c.hidden_size,))
        if layer in c.mla_layers:
            yield from _latent_attention(c, f"{at}.attention")
        else:
            yield from _delta_attention(c, f"{at}.attention", raw_layout)
        yield PlainPart(f"{at}.post_attention_layernorm.weight", (c.hidden_size,))
        if layer in c.moe_layers:
            yield from _experts(c, f"{at}.mlp")
        else:
            yield from _glu(f"{at}.mlp", c.hidden_size, c.intermediate_size)
    yield PlainPart("norm.weight", (c.hidden_size,))
    if not c.tie_word_embeddings:
        yield LinearPart("lm_head", c.vocab_size, c.hidden_size)


def _delta_attention(c: BailingMoeV3Config, at: str, raw_layout: bool) -> Iterator[Part]:
    kernel, heads, channels = c.short_conv_kernel_size, c.num_attention_heads, c.kda_dim
    for name in ("q_proj", "k_proj", "v_proj", "f_proj", "g_proj"):
        yield LinearPart(f"{at}.{name}", channels, c.hidden_size)
    yield LinearPart(f"{at}.b_proj", heads, c.hidden_size)
    yield LinearPart(f"{at}.o_proj", c.hidden_size, channels)
    for name in ("q_conv1d", "k_conv1d", "v_conv1d"):
        yield PlainPart(f"{at}.{name}.weight", (channels, 1, kernel) if raw_layout else (channels, kernel, 1))
    yield PlainPart(f"{at}.A_log", (heads,))
    yield PlainPart(f"{at}.dt_bias", (channels,))
    yield PlainPart(f"{at}.o_norm.weight", (c.head_dim,))


def _latent_attention(c: BailingMoeV3Config, at: str) -> Iterator[Part]:
    heads = c.num_attention_heads
    # of kv_b_proj, per head: qk_nope_head_dim of key, then v_head_dim of value
    rows = heads * (c.qk_nope_head_dim + c.v_head_dim)
    yield LinearPart(f"{at}.q_a_proj", c.q_lora_rank, c.hidden_size)
    yield PlainPart(f"{at}.q_a_layernorm.weight", (c.q_lora_rank,))
    yield LinearPart(f"{at}.q_b_proj", heads * c.qk_head_dim, c.q_lora_rank)
    # rows: the latent, then the key that carries the position
    yield LinearPart(f"{at}.kv_a_proj_with_mqa", c.latent_dim, c.hidden_size)
    yield PlainPart(f"{at}.kv_a_layernorm.weight", (c.kv_lora_rank,))
    yield LinearPart(f"{at}.kv_b_proj", rows, c.kv_lora_rank, packed=True)
    yield LinearPart(f"{at}.g_proj", heads, c.hidden_size)
    yield LinearPart(f"{at}.dense", c.hidden_size, heads * c.v_head_dim)


def _experts(c: BailingMoeV3Config, at: str) -> Iterator[Part]:
    hidden, inner = c.hidden_size, c.moe_intermediate_size
    # the router stays in plain floats, whatever the file's quantisation says
    yield PlainPart(f"{at}.gate.weight", (c.num_experts, hidden))
    yield PlainPart(f"{at}.gate.expert_bias", (c.num_experts,))
    yield from _glu(f"{at}.shared_experts", hidden, c.shared_expert_intermediate_size)
    yield from _glu(f"{at}.experts", hidden, inner, c.num_experts)


def _glu(at: str, hidden: int, inner: int, experts: int = 0) -> Iterator[Part]:
    yield LinearPart(f"{at}.gate_proj", inner, hidden, experts)
    yield LinearPart(f"{at}.up_proj", inner, hidden, experts)
    yield LinearPart(f"{at}.down_proj", hidden, inner, experts)


def lora_targets(c: BailingMoeV3Config) -> tuple[str, ...]:
    """The modules the published adapters adapt: 153 at the released sizes; no expert, routed or shared."""
    targets: list[str] = []
    for layer in range(c.num_hidden_layers):
        attention = MLA_LORA if layer in c.mla_layers else KDA_LORA
        targets += [f"layers.{layer}.attention.{name}" for name in attention]
        if layer not in c.moe_layers:
            targets += [f"layers.{layer}.mlp.{name}" for name in GLU]
    return tuple(targets)
