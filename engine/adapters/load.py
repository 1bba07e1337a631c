"""Adapter and heads files as arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import mlx.core as mx

from engine.adapters.prerouter import Heads
from engine.checkpoint.lora import LoraFile
from engine.checkpoint.prerouter import PrerouterFile
from engine.kernels.interface import Kernels
from engine.models.arrays import read_array
from engine.models.linear import LowRank


def load_lora(file: LoraFile, activations: mx.Dtype, progress: Callable[[int], None]) -> dict[str, LowRank]:
    """The updates of all the file's targets, by module; `progress` is told the bytes read and may raise to stop.

    Held as stored, except where the device computes in float32.
    """
    updates: dict[str, LowRank] = {}
    for module, target in file.targets.items():
        progress(target.a.nbytes + target.b.nbytes)
        pair = [read_array(info) for info in (target.a, target.b)]
        if activations == mx.float32:
            pair = [array.astype(mx.float32) for array in pair]
        if target.transposed:
            pair = [mx.contiguous(array.T) for array in pair]
        mx.eval(pair)
        a, b = pair
        updates[module] = LowRank(a, b, target.scale)
    return updates


def load_heads(
    file: PrerouterFile, owners: Sequence[int], kernels: Kernels, progress: Callable[[int], None]
) -> Heads:
    """The heads of `owners` (those the checkpoint has), stacked in float16 as published; `progress` as above."""
    stacks: list[mx.array] = []
    for piece in ("fc1", "fc2", "linear_init"):
        infos = [getattr(file.heads[owner], piece) for owner in owners]
        stacked = mx.zeros((len(owners), *infos[0].shape), dtype=mx.float16)
        for index, info in enumerate(infos):
            progress(info.nbytes)
            stacked[index] = read_array(info).astype(mx.float16)
            mx.eval(stacked)  # one head at a time: the stored copies need not all be in memory together
        stacks.append(stacked)
    return Heads(kernels, tuple(owners), file.num_experts, *stacks)
