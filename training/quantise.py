"""MLX's affine quantisation: groups of 64 along the input, scale and bias stored in bfloat16."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from training.model.params import TOPIC, Params, is_matrix

GROUP = 64


def bits_of(name: str) -> int:
    """The router and the shared expert's gate have 8 bits, as in the release; everything else 4."""
    return 8 if name.endswith(("mlp.gate.weight", "mlp.shared_expert_gate.weight")) else 4


def quantise(w: Tensor, bits: int) -> tuple[Tensor, Tensor, Tensor]:
    """w ``[..., I]`` -> (codes uint8 ``[..., I]``, scales and biases bf16-valued f32 ``[..., I/64]``).

    As MLX does it: the edge of larger magnitude is met exactly, and zero falls on a code.
    """
    groups = w.unflatten(-1, (-1, GROUP))
    low, high = groups.amin(-1), groups.amax(-1)
    top = 2**bits - 1
    from_low = low.abs() > high.abs()
    scale = ((high - low) / top).clamp_min(1e-7)
    scale = torch.where(from_low, scale, -scale)
    edge = torch.where(from_low, low, high)
    steps = (edge / scale).round()
    scale = torch.where(steps != 0, edge / steps, scale).bfloat16().float()
    bias = torch.where(steps == 0, torch.zeros_like(edge), edge).bfloat16().float()
    codes = ((groups - bias[..., None]) / scale[..., None]).round_().clamp_(0, top)
    return codes.to(torch.uint8).flatten(-2), scale, bias


def dequantise(codes: Tensor, scale: Tensor, bias: Tensor) -> Tensor:
    """code * scale + bias."""
    groups = codes.unflatten(-1, (-1, GROUP)).to(scale.dtype)
    return (groups * scale[..., None] + bias[..., None]).flatten(-2)


def pack(codes: Tensor, bits: int) -> Tensor:
    """Codes ``[..., I]`` -> int32 words ``[..., I*bits/32]``, the first code in the lowest bits."""
    per = 32 // bits
    parts = codes.unflatten(-1, (-1, per)).to(torch.int64)
    words = (parts << (torch.arange(per) * bits)).sum(-1)
    return (words & 0xFFFFFFFF).to(torch.uint32)


class _Rounded(torch.autograd.Function):  # type: ignore[misc]
    """Quantise and dequantise; the gradient passes straight through."""

    @staticmethod
    def forward(ctx: Any, w: Tensor, bits: int) -> Tensor:
        """w as the shipped file will hold it."""
        return dequantise(*quantise(w, bits))

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        """Identity."""
        return grad, None


def rounded(p: Params) -> Params:
    """All parameters as shipped: matrices through int4 or int8, the rest through bfloat16."""
    out: Params = {}
    for name, w in p.items():
        if name == TOPIC:
            out[name] = w
        elif is_matrix(name, w):
            out[name] = _Rounded.apply(w, bits_of(name))
        else:
            out[name] = w + (w.bfloat16().float() - w).detach()
    return out
