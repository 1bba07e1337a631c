"""Random matrices in the published packing, for the self-test and the probe."""

from __future__ import annotations

import mlx.core as mx

from engine.kernels.types import ExpertArrays, Quantized


def matrix(shape: tuple[int, ...], key: mx.array, *, bits: int = 4, group_size: int = 64) -> Quantized:
    """[..., out, in] with values of about 1/√in, so that products are of the size of their inputs."""
    *lead, inner = shape
    words, noise = mx.random.split(key)
    top = (1 << bits) - 1
    scales = (0.5 + mx.random.uniform(shape=(*lead, inner // group_size), key=noise)) * 3.5 / (top * inner**0.5)
    weight = mx.random.randint(0, 1 << 16, (*lead, inner * bits // 32, 2), key=words).astype(mx.uint16)
    result = Quantized(
        weight=weight.view(mx.uint32).squeeze(-1),
        scales=scales.astype(mx.bfloat16),
        biases=(scales * (-top / 2)).astype(mx.bfloat16),
        group_size=group_size,
        bits=bits,
    )
    mx.eval(result.weight, result.scales, result.biases)
    return result


def experts(slots: int, hidden: int, intermediate: int, key: mx.array) -> ExpertArrays:
    """`slots` experts in 4 bits."""
    up, down = mx.random.split(key)
    return ExpertArrays(matrix((slots, 2 * intermediate, hidden), up), matrix((slots, hidden, intermediate), down))
