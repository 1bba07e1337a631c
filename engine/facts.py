"""A checkpoint's sizes as the memory plan wants them, before anything is allocated. No MLX."""

from __future__ import annotations

from math import prod

from engine.checkpoint.checkpoint import Checkpoint
from engine.checkpoint.lora import LoraFile
from engine.checkpoint.prerouter import PrerouterFile
from engine.checkpoint.qwen3_5_moe.config import Qwen35MoeConfig
from engine.plan import ModelFacts

STATE_BYTES = 4
"""Delta-rule states are float32 on every device."""


def model_facts(
    checkpoint: Checkpoint, adapter: LoraFile | None, heads: PrerouterFile | None, activation_bytes: int
) -> ModelFacts:
    """`activation_bytes`: 4 where the device computes in float32, 2 where in bfloat16; caches have that width.

    Adapters and heads are held in the device's width too (float16 as stored where 2).
    """
    config = checkpoint.config
    assert isinstance(config, Qwen35MoeConfig)
    return ModelFacts(
        name=checkpoint.name,
        dense=checkpoint.dense_bytes + _widened(checkpoint, activation_bytes),
        record=checkpoint.records.layout.nbytes,
        moe_layers=len(config.moe_layers),
        experts=config.num_experts,
        experts_per_token=checkpoint.experts_per_token,
        cache_per_token=_cache_per_token(config, activation_bytes),
        recurrent=_recurrent(config, activation_bytes),
        adapter=adapter_elements(adapter) * activation_bytes,
        heads=_heads(heads, activation_bytes),
        activations_per_token=_activations(config, checkpoint.experts_per_token, activation_bytes),
        max_context=config.max_position_embeddings,
    )


def _widened(checkpoint: Checkpoint, activation_bytes: int) -> int:
    """Plain floats are stored in 16 bits and held in the activations' width."""
    plain = [module for module, quantisation in checkpoint.modules.items() if quantisation is None]
    stored = sum(prod(checkpoint.tensors[f"{module}.weight"].shape) for module in plain)
    return stored * (activation_bytes - 2)


def _cache_per_token(config: Qwen35MoeConfig, width: int) -> int:
    return len(config.attention_layers) * config.num_key_value_heads * 2 * config.head_dim * width


def _recurrent(config: Qwen35MoeConfig, width: int) -> int:
    heads, value, key = config.linear_num_value_heads, config.linear_value_head_dim, config.linear_key_head_dim
    history = (config.linear_conv_kernel_dim - 1) * config.conv_dim * width
    return len(config.linear_layers) * (heads * value * key * STATE_BYTES + history)


def adapter_elements(adapter: LoraFile | None) -> int:
    """Numbers in an adapter's factors."""
    return sum(prod(t.a.shape) + prod(t.b.shape) for t in adapter.targets.values()) if adapter else 0


def _heads(heads: PrerouterFile | None, width: int) -> int:
    if heads is None:
        return 0
    pieces = [(head.fc1, head.fc2, head.linear_init) for head in heads.heads.values()]
    return sum(prod(info.shape) for three in pieces for info in three) * width


def _activations(config: Qwen35MoeConfig, k: int, width: int) -> int:
    """Bytes a prompt token holds at once in the widest place of a layer: mixing, or the routed outputs."""
    mixing = 5 * config.conv_dim + 4 * config.linear_value_dim
    routed = 3 * k * config.hidden_size + k * 3 * config.moe_intermediate_size
    return (max(mixing, routed) + 4 * config.hidden_size) * width
