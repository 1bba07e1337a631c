"""Every quantised product of every implementation, against float64."""

from __future__ import annotations

from typing import Any

import mlx.core as mx
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.kernels import reference
from engine.kernels.interface import Kernels
from tests.engine.kernels.operands import activations, experts, matrix

Array = npt.NDArray[Any]
few = settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
formats = st.tuples(st.sampled_from([4, 8]), st.sampled_from([32, 64, 128]))
seeds = st.integers(0, 2**31)


def assert_close(got: mx.array, wanted: Array) -> None:
    assert got.shape == wanted.shape
    assert np.abs(np.array(got) - wanted).max() <= 1e-5 * np.abs(wanted).max()


@few
@given(packing=formats, rows=st.integers(1, 9), out=st.integers(1, 70), groups=st.integers(1, 5), seed=seeds)
def test_linear(kernels: Kernels, packing: tuple[int, int], rows: int, out: int, groups: int, seed: int) -> None:
    bits, group_size = packing
    w = matrix((out, groups * group_size), seed, bits, group_size)
    x = activations(seed, rows, w.in_features)
    assert_close(kernels.linear(mx.array(x), w), x.astype(np.float64) @ reference.dequantise(w).T)


@pytest.mark.parametrize("rows", [1, 7])
def test_linear_at_real_dimensions(kernels: Kernels, rows: int) -> None:
    w, x = matrix((1024, 2048), 3), activations(4, rows, 2048)
    assert_close(kernels.linear(mx.array(x), w), x.astype(np.float64) @ reference.dequantise(w).T)


def test_linear_keeps_leading_axes_and_accepts_lazy_strided_input(kernels: Kernels) -> None:
    w, x = matrix((6, 128), 5), activations(6, 2, 128, 3)
    wanted = x.swapaxes(1, 2).astype(np.float64) @ reference.dequantise(w).T
    assert_close(kernels.linear(mx.array(x).swapaxes(1, 2), w), wanted)


@pytest.mark.parametrize("bits", [2, 6])
def test_other_packings_still_work(kernels: Kernels, bits: int) -> None:
    w, x = matrix((20, 128), 7, bits), activations(8, 3, 128)
    scales, biases = w.scales.astype(mx.float32), w.biases.astype(mx.float32)
    dense = mx.dequantize(w.weight, scales, biases, group_size=w.group_size, bits=bits)
    assert_close(kernels.linear(mx.array(x), w), x.astype(np.float64) @ np.array(dense, np.float64).T)


@pytest.mark.parametrize("bits", [4, 8])
def test_embed(kernels: Kernels, bits: int) -> None:
    w, ids = matrix((50, 128), 9, bits), np.array([49, 0, 7, 7], np.int32)
    assert_close(kernels.embed(ids, w), reference.dequantise(w)[ids])


@few
@given(packing=formats, tokens=st.integers(1, 3), per_token=st.integers(1, 4), seed=seeds)
def test_experts(kernels: Kernels, packing: tuple[int, int], tokens: int, per_token: int, seed: int) -> None:
    arrays = experts(5, 256, 128, seed, *packing)
    x = activations(seed, tokens, 256)
    slots = np.random.default_rng(seed).integers(0, 5, (tokens, per_token)).astype(np.int32)
    exact = x.astype(np.float64)
    wanted = [[reference.expert(exact[t : t + 1], arrays, s)[0] for s in slots[t]] for t in range(tokens)]
    assert_close(kernels.experts(mx.array(x), slots, arrays), np.array(wanted))


def test_experts_at_real_dimensions(kernels: Kernels) -> None:
    arrays, x = experts(6, 2048, 512, 10), activations(11, 1, 2048)
    slots = np.array([[5, 0, 3, 1]], np.int32)
    wanted = [[reference.expert(x.astype(np.float64), arrays, s)[0] for s in slots[0]]]
    assert_close(kernels.experts(mx.array(x), slots, arrays), np.array(wanted))


@few
@given(packing=formats, counts=st.lists(st.integers(0, 9), min_size=1, max_size=5), seed=seeds)
def test_grouped_experts(kernels: Kernels, packing: tuple[int, int], counts: list[int], seed: int) -> None:
    counts[0] += 1  # at least one row
    arrays = experts(6, 128, 128, seed, *packing)
    slots = np.random.default_rng(seed).permutation(6)[: len(counts)].astype(np.int32)
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    x = activations(seed, int(offsets[-1]), 128)
    exact = x.astype(np.float64)
    runs = zip(slots, offsets[:-1], offsets[1:], strict=True)
    wanted = np.concatenate([reference.expert(exact[a:b], arrays, int(s)) for s, a, b in runs])
    assert_close(kernels.grouped_experts(mx.array(x), slots, offsets, arrays), wanted)


@pytest.mark.parametrize("shape", [(3, 5, 7), (9, 256, 512), (2, 40, 2560)])
def test_float16_matrices_one_a_row(kernels: Kernels, shape: tuple[int, int, int]) -> None:
    w, x = activations(1, *shape).astype(np.float16), activations(2, shape[0], shape[2])
    wanted = np.einsum("noi,ni->no", w.astype(np.float64), x.astype(np.float64))
    assert_close(kernels.stacked(mx.array(x), mx.array(w)), wanted)


def test_every_finite_float16_is_read_exactly(kernels: Kernels) -> None:
    words = np.arange(1 << 16, dtype=np.uint16)
    values = words[words & 0x7C00 != 0x7C00].view(np.float16)
    got = np.array(kernels.stacked(mx.ones((1, 1)), mx.array(values[None, :, None])))
    np.testing.assert_array_equal(got[0], values.astype(np.float32))
