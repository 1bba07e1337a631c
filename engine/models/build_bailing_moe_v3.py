"""A bailing_moe_v3 model out of its weights."""

from __future__ import annotations

from functools import partial

import mlx.core as mx
import numpy as np

from engine.checkpoint.bailing_moe_v3.config import MLA, BailingMoeV3Config
from engine.experts.streamer import ExpertStreamer
from engine.kernels.interface import Kernels
from engine.models.bailing_moe_v3 import KimiDeltaAttention, LatentAttention
from engine.models.blocks import GatedMlp
from engine.models.delta import DeltaRule
from engine.models.layer import FeedForward, Layer, dense
from engine.models.model import Model
from engine.models.moe import MoeBlock, float32_router
from engine.models.routing import Floats, GroupLimits, Select, group_limited_top_k
from engine.models.weights import Weights


def selection(config: BailingMoeV3Config, k: int, bias: Floats | None = None) -> Select:
    """What a router selects from its logits, with its experts' bias; the heads' logits are taken without one."""
    return partial(
        group_limited_top_k,
        k=k,
        limits=GroupLimits(config.n_group, config.topk_group, config.group_scores),
        scaling=config.routed_scaling_factor,
        epsilon=config.score_epsilon,
        bias=bias,
    )


def build(config: BailingMoeV3Config, k: int, weights: Weights, experts: ExpertStreamer, kernels: Kernels) -> Model:
    """`k` experts per token, whatever the configuration says (see `engine.checkpoint.tiers`)."""
    layers = []
    routers: dict[int, Select] = {}

    def feed_forward(index: int) -> FeedForward:
        at = f"layers.{index}.mlp"
        if index not in config.moe_layers:
            return dense(_mlp(at, weights))
        bias = np.asarray(weights.vector(f"{at}.gate.expert_bias", mx.float32))
        router = float32_router(weights.vector(f"{at}.gate.weight", mx.float32))
        routers[index] = selection(config, k, bias)
        return MoeBlock(index, kernels, experts, router, routers[index], _mlp(f"{at}.shared_experts", weights))

    for index, kind in enumerate(config.layer_types):
        at = f"layers.{index}"
        make = _latent_attention if kind == MLA else _delta_attention
        layers.append(
            Layer(
                make(config, f"{at}.attention", weights, kernels),
                feed_forward(index),
                weights.norm(f"{at}.input_layernorm.weight", shifted=False),
                weights.norm(f"{at}.post_attention_layernorm.weight", shifted=False),
                config.rms_norm_eps,
            )
        )
    tied = config.tie_word_embeddings
    embed = (weights.embedding if tied else weights.streamed_embedding)("word_embeddings")
    return Model(
        embed=embed,
        layers=layers,
        norm=weights.norm("norm.weight", shifted=False),
        eps=config.rms_norm_eps,
        head=weights.tied_head("word_embeddings") if tied else weights.linear("lm_head"),
        linears=weights.linears,
        routers=routers,
    )


def _mlp(at: str, weights: Weights) -> GatedMlp:
    return GatedMlp(*(weights.linear(f"{at}.{name}_proj") for name in ("gate", "up", "down")))


def _delta_attention(config: BailingMoeV3Config, at: str, weights: Weights, kernels: Kernels) -> KimiDeltaAttention:
    heads, dim = config.num_attention_heads, config.head_dim
    conv = mx.concatenate([weights.conv(f"{at}.{name}_conv1d.weight") for name in ("q", "k", "v")])
    mx.eval(conv)
    return KimiDeltaAttention(
        rule=DeltaRule(kernels, heads, heads, dim, dim, conv),
        lower_bound=config.kda_lower_bound,
        eps=config.rms_norm_eps,
        q=weights.linear(f"{at}.q_proj"),
        k=weights.linear(f"{at}.k_proj"),
        v=weights.linear(f"{at}.v_proj"),
        f=weights.linear(f"{at}.f_proj"),
        b=weights.linear(f"{at}.b_proj"),
        g=weights.linear(f"{at}.g_proj"),
        out=weights.linear(f"{at}.o_proj"),
        a_log=weights.vector(f"{at}.A_log", mx.float32),
        dt_bias=weights.vector(f"{at}.dt_bias", mx.float32),
        norm=weights.vector(f"{at}.o_norm.weight", mx.float32),
    )


def _latent_attention(config: BailingMoeV3Config, at: str, weights: Weights, kernels: Kernels) -> LatentAttention:
    return LatentAttention(
        kernels=kernels,
        heads=config.num_attention_heads,
        nope_dim=config.qk_nope_head_dim,
        rope_dim=config.qk_rope_head_dim,
        rope_theta=config.rope_theta,
        eps=config.rms_norm_eps,
        q_a=weights.linear(f"{at}.q_a_proj"),
        q_b=weights.linear(f"{at}.q_b_proj"),
        kv_a=weights.linear(f"{at}.kv_a_proj_with_mqa"),
        kv_b=weights.per_head(f"{at}.kv_b_proj", config.num_attention_heads, config.qk_nope_head_dim),
        gate=weights.linear(f"{at}.g_proj"),
        out=weights.linear(f"{at}.dense"),
        q_norm=weights.norm(f"{at}.q_a_layernorm.weight", shifted=False),
        kv_norm=weights.norm(f"{at}.kv_a_layernorm.weight", shifted=False),
    )
