"""Token mixers: the gated delta net and gated attention with partial rotary embedding."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as fn

from training.config import NanoConfig
from training.model.delta import chunked
from training.model.params import Params


def rms(x: Tensor, weight: Tensor, eps: float) -> Tensor:
    """x / sqrt(mean x^2 + eps) * w over the last dimension."""
    return fn.rms_norm(x, (x.shape[-1],), weight, eps)


def _conv(x: Tensor, weight: Tensor) -> Tensor:
    """Causal depthwise convolution. x ``[B,T,C]``, weight ``[C,kernel,1]``; tap j sees x[t-kernel+1+j]."""
    kernel = weight.shape[1]
    taps = weight[..., 0].t()
    padded = fn.pad(x, (0, 0, kernel - 1, 0))
    out = x * taps[-1]
    for j in range(kernel - 1):
        out = out + padded[:, j : j + x.shape[1]] * taps[j]
    return out


def delta_net(c: NanoConfig, p: Params, name: str, x: Tensor) -> Tensor:
    """Gated delta net. x ``[B,T,D]`` -> ``[B,T,D]``; T is a multiple of the chunk."""
    b, t, _ = x.shape
    qkv = fn.silu(_conv(fn.linear(x, p[f"{name}.in_proj_qkv.weight"]), p[f"{name}.conv1d.weight"]))
    q, k, v = qkv.split([c.delta_keys, c.delta_keys, c.delta_values], -1)
    repeat = c.value_heads // c.key_heads
    q, k = (fn.normalize(y.view(b, t, c.key_heads, c.key_dim), dim=-1, eps=1e-3) for y in (q, k))
    q, k = (y.transpose(1, 2).repeat_interleave(repeat, 1) for y in (q * c.key_dim**-0.5, k))
    v = v.view(b, t, c.value_heads, c.value_dim).transpose(1, 2)
    a = fn.linear(x, p[f"{name}.in_proj_a.weight"]) + p[f"{name}.dt_bias"]
    log_g = -(p[f"{name}.A_log"].exp() * fn.softplus(a)).transpose(1, 2)
    beta = fn.linear(x, p[f"{name}.in_proj_b.weight"]).sigmoid().transpose(1, 2)
    out = chunked(q, k, v, log_g, beta).transpose(1, 2)
    z = fn.linear(x, p[f"{name}.in_proj_z.weight"]).view_as(out)
    out = rms(out, p[f"{name}.norm.weight"], c.eps) * fn.silu(z)
    return fn.linear(out.reshape(b, t, -1), p[f"{name}.out_proj.weight"])


def rope_tables(c: NanoConfig, length: int) -> tuple[Tensor, Tensor]:
    """Cosines and sines ``[T, rotary/2]``."""
    half = c.rotary_dim // 2
    inverse = c.rope_theta ** (-torch.arange(half, dtype=torch.float32) / half)
    angles = torch.arange(length, dtype=torch.float32)[:, None] * inverse
    return angles.cos(), angles.sin()


def _rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Half-split rotation of the first dimensions. x ``[B,H,T,d]``."""
    half = cos.shape[-1]
    one, two, rest = x.split([half, half, x.shape[-1] - 2 * half], -1)
    return torch.cat([one * cos - two * sin, two * cos + one * sin, rest], -1)


def attention(c: NanoConfig, p: Params, name: str, x: Tensor) -> Tensor:
    """Gated grouped-query attention. x ``[B,T,D]`` -> ``[B,T,D]``."""
    b, t, _ = x.shape
    q, gate = fn.linear(x, p[f"{name}.q_proj.weight"]).view(b, t, c.heads, -1).chunk(2, -1)
    k = fn.linear(x, p[f"{name}.k_proj.weight"]).view(b, t, c.kv_heads, -1)
    v = fn.linear(x, p[f"{name}.v_proj.weight"]).view(b, t, c.kv_heads, -1).transpose(1, 2)
    cos, sin = rope_tables(c, t)
    q = _rotate(rms(q, p[f"{name}.q_norm.weight"], c.eps).transpose(1, 2), cos, sin)
    k = _rotate(rms(k, p[f"{name}.k_norm.weight"], c.eps).transpose(1, 2), cos, sin)
    out = fn.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True).transpose(1, 2)
    out = out.reshape(b, t, -1) * gate.reshape(b, t, -1).sigmoid()
    return fn.linear(out, p[f"{name}.o_proj.weight"])
