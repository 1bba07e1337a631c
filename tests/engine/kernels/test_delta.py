"""The gated delta rule against float64, with decays strong enough to underflow."""

from __future__ import annotations

import mlx.core as mx
import numpy as np
import pytest

from engine.kernels import mlx_delta, reference
from engine.kernels.cpu.kernels import CpuKernels
from engine.kernels.interface import Kernels
from tests.engine.kernels.operands import Floats

KEYS, HEADS, DEPTH, WIDTH = 2, 4, 32, 24


def operands(tokens: int, per_channel: bool, seed: int, same_keys: bool = False) -> list[Floats]:
    """q, k, v, g, beta, state; g between exp(−5) and 1, and exactly 1, 0 and tiny in places."""
    rng = np.random.default_rng(seed)
    q, k = rng.standard_normal((2, tokens, KEYS, DEPTH))
    if same_keys:
        k[:] = k[:1]
    q, k = (a / np.linalg.norm(a, axis=-1, keepdims=True) for a in (q, k))
    v = rng.standard_normal((tokens, HEADS, WIDTH))
    g = np.exp(-5 * rng.random((tokens, HEADS, DEPTH) if per_channel else (tokens, HEADS)) ** 2)
    g[tokens // 3] = 1.0
    g[tokens // 2] = 1e-30
    if tokens > 4:
        g[tokens // 2 + 1] = 0.0
    beta = rng.random((tokens, HEADS))
    return [a.astype(np.float32) for a in (q, k, v, g, beta, rng.standard_normal((HEADS, WIDTH, DEPTH)))]


def assert_rule(kernels: Kernels, arrays: list[Floats]) -> None:
    inputs = [mx.array(a) for a in arrays]
    out, state = kernels.gated_delta(*inputs)
    wanted_out, wanted_state = reference.gated_delta(*(a.astype(np.float64) for a in arrays))
    for got, wanted in ((out, wanted_out), (state, wanted_state)):
        assert got.shape == wanted.shape and got.dtype == mx.float32
        assert np.abs(np.array(got) - wanted).max() <= 1e-5 * np.abs(wanted).max()
    assert np.array_equal(np.array(inputs[-1]), arrays[-1]), "the state was modified"


@pytest.mark.parametrize("per_channel", [False, True], ids=["head", "channel"])
@pytest.mark.parametrize("tokens", [1, 2, 63, 64, 65, 200])
def test_rule(kernels: Kernels, tokens: int, per_channel: bool) -> None:
    assert_rule(kernels, operands(tokens, per_channel, seed=tokens))


@pytest.mark.parametrize("per_channel", [False, True], ids=["head", "channel"])
def test_repeated_keys_without_decay(kernels: Kernels, per_channel: bool) -> None:
    """The hardest system to solve in chunks: every token writes where the last one wrote."""
    arrays = operands(130, per_channel, seed=1, same_keys=True)
    arrays[3][:] = 1.0
    arrays[4][:] = 1.0
    assert_rule(kernels, arrays)


@pytest.mark.parametrize("per_channel", [False, True], ids=["head", "channel"])
def test_uniform_strong_decay(kernels: Kernels, per_channel: bool) -> None:
    arrays = operands(100, per_channel, seed=2)
    arrays[3][:] = np.exp(-5.0)
    assert_rule(kernels, arrays)


def test_cutting_the_tokens_changes_no_bit_on_the_cpu(cpu: CpuKernels) -> None:
    q, k, v, g, beta, state = (mx.array(a) for a in operands(50, per_channel=True, seed=3))
    whole, end = cpu.gated_delta(q, k, v, g, beta, state)
    parts = []
    for first, last in ((0, 1), (1, 30), (30, 50)):
        part = slice(first, last)
        out, state = cpu.gated_delta(q[part], k[part], v[part], g[part], beta[part], state)
        parts.append(out)
    assert mx.array_equal(mx.concatenate(parts), whole) and mx.array_equal(state, end)


@pytest.mark.parametrize("size", [1, 2, 16, 64])
def test_triangular_inverse(size: int) -> None:
    low = np.tril(np.random.default_rng(size).standard_normal((3, size, size)), -1).astype(np.float32) / size
    inverse = np.array(mlx_delta._unit_lower_inverse(mx.array(low)))
    np.testing.assert_allclose(inverse, np.linalg.inv(np.eye(size) + low.astype(np.float64)), atol=1e-5)
