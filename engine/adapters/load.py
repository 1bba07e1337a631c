"""Adapter and heads files as arrays, in the dtype the device computes them in."""

from __future__ import annotations

from collections.abc import Sequence

import mlx.core as mx

from engine.adapters.prerouter import Heads
from engine.checkpoint.lora import LoraFile
from engine.checkpoint.prerouter import PrerouterFile
from engine.models.arrays import read_array
from engine.models.linear import LowRank


def adapter_dtype(activations: mx.Dtype) -> mx.Dtype:
    """float16 as published, except where the device computes in float32 because half precision is slow there."""
    return mx.float32 if activations == mx.float32 else mx.float16


def load_lora(file: LoraFile, modules: Sequence[str], dtype: mx.Dtype) -> dict[str, LowRank]:
    """The updates of `modules` (those that fit the checkpoint), by module."""
    updates = {}
    for module in modules:
        target = file.targets[module]
        a, b = read_array(target.a).astype(dtype), read_array(target.b).astype(dtype)
        mx.eval(a, b)
        updates[module] = LowRank(a, b, file.scale)
    return updates


def load_heads(file: PrerouterFile, owners: Sequence[int], dtype: mx.Dtype) -> Heads:
    """The heads of `owners` (those the checkpoint has), stacked."""
    stacks: list[mx.array] = []
    for piece in ("fc1", "fc2", "linear_init"):
        infos = [getattr(file.heads[owner], piece) for owner in owners]
        stacked = mx.zeros((len(owners), *infos[0].shape), dtype=dtype)
        for index, info in enumerate(infos):
            stacked[index] = read_array(info).astype(dtype)
            mx.eval(stacked)  # one head at a time: the stored copies need not all be in memory together
        stacks.append(stacked)
    return Heads(tuple(owners), file.num_experts, *stacks)
