"""Parameters as a flat dictionary whose keys are the published tensor names."""

from __future__ import annotations

import math

import torch

from training.config import NanoConfig

Params = dict[str, torch.Tensor]
PREFIX = "language_model.model"
HEAD = "language_model.lm_head"
TOPIC = "training.topic_head"


def layer(index: int) -> str:
    """Name prefix of one layer."""
    return f"{PREFIX}.layers.{index}"


def _mixer_shapes(c: NanoConfig, index: int) -> dict[str, tuple[int, ...]]:
    name = layer(index)
    if c.is_attention(index):
        a = f"{name}.self_attn"
        kv = c.kv_heads * c.head_dim
        return {
            f"{a}.q_proj.weight": (c.heads * c.head_dim * 2, c.hidden),
            f"{a}.k_proj.weight": (kv, c.hidden),
            f"{a}.v_proj.weight": (kv, c.hidden),
            f"{a}.o_proj.weight": (c.hidden, c.heads * c.head_dim),
            f"{a}.q_norm.weight": (c.head_dim,),
            f"{a}.k_norm.weight": (c.head_dim,),
        }
    d = f"{name}.linear_attn"
    return {
        f"{d}.in_proj_qkv.weight": (c.conv_dim, c.hidden),
        f"{d}.in_proj_z.weight": (c.delta_values, c.hidden),
        f"{d}.in_proj_a.weight": (c.value_heads, c.hidden),
        f"{d}.in_proj_b.weight": (c.value_heads, c.hidden),
        f"{d}.out_proj.weight": (c.hidden, c.delta_values),
        f"{d}.conv1d.weight": (c.conv_dim, c.conv_kernel, 1),
        f"{d}.A_log": (c.value_heads,),
        f"{d}.dt_bias": (c.value_heads,),
        f"{d}.norm.weight": (c.value_dim,),
    }


def _mlp_shapes(c: NanoConfig, index: int) -> dict[str, tuple[int, ...]]:
    m = f"{layer(index)}.mlp"
    out: dict[str, tuple[int, ...]] = {
        f"{m}.gate.weight": (c.experts, c.hidden),
        f"{m}.shared_expert_gate.weight": (1, c.hidden),
    }
    for name, lead, width in (("shared_expert", (), c.shared_dim), ("switch_mlp", (c.experts,), c.expert_dim)):
        out[f"{m}.{name}.gate_proj.weight"] = (*lead, width, c.hidden)
        out[f"{m}.{name}.up_proj.weight"] = (*lead, width, c.hidden)
        out[f"{m}.{name}.down_proj.weight"] = (*lead, c.hidden, width)
    return out


def shapes(c: NanoConfig) -> dict[str, tuple[int, ...]]:
    """Every tensor name with its full-precision shape."""
    out: dict[str, tuple[int, ...]] = {f"{PREFIX}.embed_tokens.weight": (c.vocab, c.hidden)}
    for i in range(c.layers):
        out |= _mixer_shapes(c, i) | _mlp_shapes(c, i)
        out[f"{layer(i)}.input_layernorm.weight"] = (c.hidden,)
        out[f"{layer(i)}.post_attention_layernorm.weight"] = (c.hidden,)
    out[f"{PREFIX}.norm.weight"] = (c.hidden,)
    out[f"{HEAD}.weight"] = (c.vocab, c.hidden)
    return out


def is_matrix(name: str, tensor: torch.Tensor) -> bool:
    """Whether a tensor is a matrix (decayed in training, quantised on export)."""
    return tensor.ndim >= 2 and "conv1d" not in name


def initialise(c: NanoConfig, seed: int) -> Params:
    """Seeded start values: scaled normals, norms at one, decays spread over slow and fast heads."""
    gen = torch.Generator().manual_seed(seed)
    out: Params = {}
    for name, shape in shapes(c).items():
        if name.endswith("A_log"):
            value = torch.log(torch.linspace(0.1, 2.0, shape[0]))
        elif name.endswith("dt_bias"):
            value = torch.full(shape, -3.0)
        elif "norm" in name:
            value = torch.ones(shape)
        elif "conv1d" in name:
            value = torch.randn(shape, generator=gen) * 0.2
            value[:, -1] += 0.7
        else:
            std = 0.3 if "embed" in name else 1.0 / math.sqrt(shape[-1])
            if name.endswith(("o_proj.weight", "out_proj.weight", "down_proj.weight")):
                std *= 0.05  # nearly linear at first: deep random layers would scramble the words
            value = torch.randn(shape, generator=gen) * std
        out[name] = value.requires_grad_()
    return out
