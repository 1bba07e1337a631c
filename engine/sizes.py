"""What a family's layers hold beside their stored weights: caches, states, intermediates. No MLX.

`width` is the bytes of an activation: 4 where the device computes in float32, 2 where in bfloat16.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.checkpoint.bailing_moe_v3.config import BailingMoeV3Config
from engine.checkpoint.model_config import ModelConfig
from engine.checkpoint.qwen3_5_moe.config import Qwen35MoeConfig
from engine.errors import CheckpointError

STATE_BYTES = 4
"""Delta-rule states, and routers stored in plain floats, are float32 on every device."""


@dataclass(frozen=True)
class Sizes:
    """Bytes.

    cache_per_token        of all layers together
    recurrent              states of one conversation
    activations_per_token  what a prompt token holds at once in the widest place of a layer
    derived                arrays made from the tensors whose names begin with one of `replaced`, and kept instead
    """

    cache_per_token: int
    recurrent: int
    activations_per_token: int
    derived: int = 0
    replaced: tuple[str, ...] = ()


def sizes_of(config: ModelConfig, k: int, width: int) -> Sizes:
    """The sizes with `k` experts per token."""
    match config:
        case Qwen35MoeConfig():
            return _qwen3_5_moe(config, k, width)
        case BailingMoeV3Config():
            return _bailing_moe_v3(config, k, width)
        case _:
            raise CheckpointError(f"models of the family {config.family} are not supported")


def _qwen3_5_moe(c: Qwen35MoeConfig, k: int, width: int) -> Sizes:
    state = c.linear_num_value_heads * c.linear_value_head_dim * c.linear_key_head_dim * STATE_BYTES
    history = (c.linear_conv_kernel_dim - 1) * c.conv_dim * width
    mixing = 5 * c.conv_dim + 4 * c.linear_value_dim
    return Sizes(
        cache_per_token=len(c.attention_layers) * c.num_key_value_heads * 2 * c.head_dim * width,
        recurrent=len(c.linear_layers) * (state + history),
        activations_per_token=_widest(c, k, mixing) * width,
    )


def _bailing_moe_v3(c: BailingMoeV3Config, k: int, width: int) -> Sizes:
    """`kv_b_proj` is held dequantised (see `engine.models.per_head`), routers in float32."""
    heads = c.num_attention_heads
    state = heads * c.head_dim * c.head_dim * STATE_BYTES
    history = (c.short_conv_kernel_size - 1) * 3 * c.kda_dim * width
    delta = 5 * 3 * c.kda_dim + 5 * c.kda_dim
    latent = heads * (2 * c.qk_head_dim + 3 * c.latent_dim + 3 * c.v_head_dim)
    expanded = heads * (c.qk_nope_head_dim + c.v_head_dim) * c.kv_lora_rank * width
    routers = c.num_experts * (c.hidden_size + 1) * STATE_BYTES
    return Sizes(
        cache_per_token=len(c.mla_layers) * c.latent_dim * width,
        recurrent=len(c.kda_layers) * (state + history),
        activations_per_token=_widest(c, k, max(delta, latent)) * width,
        derived=len(c.mla_layers) * expanded + len(c.moe_layers) * routers,
        replaced=(
            *(() if c.tie_word_embeddings else ("word_embeddings.",)),  # rows stay in the file
            *(f"layers.{i}.attention.kv_b_proj." for i in c.mla_layers),
            *(f"layers.{i}.mlp.gate." for i in c.moe_layers),
        ),
    )


def _widest(c: ModelConfig, k: int, mixing: int) -> int:
    """Numbers per token where a layer holds most: mixing tokens, or the routed experts' outputs."""
    routed = 3 * k * c.hidden_size + k * 3 * c.moe_intermediate_size
    return max(mixing, routed) + 4 * c.hidden_size
