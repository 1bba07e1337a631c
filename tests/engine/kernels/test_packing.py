"""The layout of the published bytes, as the float64 reference reads it."""

from __future__ import annotations

import mlx.core as mx
import numpy as np
import pytest

from engine.kernels import reference
from engine.kernels.types import Quantized
from tests.engine.kernels.operands import matrix


@pytest.mark.parametrize("bits", [4, 8])
@pytest.mark.parametrize("group_size", [32, 64, 128])
def test_reference_reads_what_mlx_packs(bits: int, group_size: int) -> None:
    w = matrix((3, 5, 256), 1, bits, group_size)
    scales, biases = w.scales.astype(mx.float32), w.biases.astype(mx.float32)
    wanted = mx.dequantize(w.weight, scales, biases, group_size=group_size, bits=bits)
    np.testing.assert_allclose(reference.dequantise(w), np.array(wanted), rtol=1e-6, atol=1e-6)


def test_low_bits_come_first() -> None:
    word = mx.array([[0x76543210] * 4], dtype=mx.uint32)
    one, zero = mx.ones((1, 1), mx.bfloat16), mx.zeros((1, 1), mx.bfloat16)
    w = Quantized(word, one, zero, group_size=32, bits=4)
    assert reference.dequantise(w)[0].tolist() == [*range(8)] * 4
