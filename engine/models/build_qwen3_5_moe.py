"""A qwen3_5_moe model out of its weights."""

from __future__ import annotations

from functools import partial

import mlx.core as mx

from engine.checkpoint.qwen3_5_moe.config import FULL, Qwen35MoeConfig
from engine.experts.streamer import ExpertStreamer
from engine.kernels.interface import Kernels
from engine.models.blocks import GatedMlp
from engine.models.delta import DeltaRule
from engine.models.layer import Layer
from engine.models.model import Model
from engine.models.moe import MoeBlock, gated
from engine.models.qwen3_5_moe import GatedAttention, GatedDeltaNet
from engine.models.routing import Select, softmax_top_k
from engine.models.weights import Weights


def selection(config: Qwen35MoeConfig, k: int) -> Select:
    """What routers select from their logits, and the heads from theirs."""
    return partial(softmax_top_k, k=k, normalise=config.norm_topk_prob)


def build(config: Qwen35MoeConfig, k: int, weights: Weights, experts: ExpertStreamer, kernels: Kernels) -> Model:
    """`k` experts per token, whatever the configuration says (see `engine.checkpoint.tiers`)."""
    select = selection(config, k)
    layers = []
    for index, kind in enumerate(config.layer_types):
        at = f"layers.{index}"
        make = _attention if kind == FULL else _delta_net
        mixer = make(config, at, weights, kernels)
        mlp = f"{at}.mlp"
        shared = GatedMlp(*(weights.linear(f"{mlp}.shared_expert.{name}_proj") for name in ("gate", "up", "down")))
        moe = MoeBlock(
            index,
            kernels,
            experts,
            weights.linear(f"{mlp}.gate"),
            select,
            gated(shared, weights.linear(f"{mlp}.shared_expert_gate")),
        )
        layers.append(
            Layer(
                mixer,
                moe,
                weights.norm(f"{at}.input_layernorm.weight", shifted=True),
                weights.norm(f"{at}.post_attention_layernorm.weight", shifted=True),
                config.rms_norm_eps,
            )
        )
    tied = config.tie_word_embeddings
    return Model(
        embed=weights.embedding("embed_tokens"),
        layers=layers,
        norm=weights.norm("norm.weight", shifted=True),
        eps=config.rms_norm_eps,
        head=weights.tied_head("embed_tokens") if tied else weights.linear("lm_head"),
        linears=weights.linears,
        routers=dict.fromkeys(config.moe_layers, select),
    )


def _delta_net(config: Qwen35MoeConfig, at: str, weights: Weights, kernels: Kernels) -> GatedDeltaNet:
    name = f"{at}.linear_attn"
    return GatedDeltaNet(
        rule=DeltaRule(
            kernels=kernels,
            key_heads=config.linear_num_key_heads,
            value_heads=config.linear_num_value_heads,
            key_dim=config.linear_key_head_dim,
            value_dim=config.linear_value_head_dim,
            conv=weights.conv(f"{name}.conv1d.weight"),
        ),
        eps=config.rms_norm_eps,
        qkv=weights.linear(f"{name}.in_proj_qkv"),
        z=weights.linear(f"{name}.in_proj_z"),
        a=weights.linear(f"{name}.in_proj_a"),
        b=weights.linear(f"{name}.in_proj_b"),
        out=weights.linear(f"{name}.out_proj"),
        a_log=weights.vector(f"{name}.A_log", mx.float32),
        dt_bias=weights.vector(f"{name}.dt_bias", mx.float32),
        norm=weights.vector(f"{name}.norm.weight", mx.float32),
    )


def _attention(config: Qwen35MoeConfig, at: str, weights: Weights, kernels: Kernels) -> GatedAttention:
    name = f"{at}.self_attn"
    return GatedAttention(
        kernels=kernels,
        heads=config.num_attention_heads,
        kv_heads=config.num_key_value_heads,
        head_dim=config.head_dim,
        rotary_dim=config.rotary_dim,
        rope_theta=config.rope_theta,
        eps=config.rms_norm_eps,
        q=weights.linear(f"{name}.q_proj"),
        k=weights.linear(f"{name}.k_proj"),
        v=weights.linear(f"{name}.v_proj"),
        out=weights.linear(f"{name}.o_proj"),
        q_norm=weights.norm(f"{name}.q_norm.weight", shifted=True),
        k_norm=weights.norm(f"{name}.k_norm.weight", shifted=True),
    )
