"""The arena is one piece of memory, seen by readers as bytes and by MLX as arrays."""

from __future__ import annotations

import mlx.core as mx
import numpy as np
import pytest

from engine.errors import PlanError
from engine.experts.arena import Arena
from engine.experts.record import RecordShape
from tests.engine.experts.library import SHAPE, held

SLOTS = 3


def fill(arena: Arena, slot: int, record: bytes) -> None:
    at = 0
    for view in arena.destinations(slot):
        view[:] = record[at : at + len(view)]
        at += len(view)


def random_record(seed: int) -> bytes:
    return np.random.default_rng(seed).bytes(SHAPE.nbytes)


def test_shapes_and_size() -> None:
    arena = Arena(SHAPE, SLOTS)
    gate_up, down = arena.arrays.gate_up, arena.arrays.down
    assert (gate_up.weight.shape, gate_up.scales.shape) == ((SLOTS, 64, 8), (SLOTS, 64, 2))
    assert (down.weight.shape, down.biases.shape) == ((SLOTS, 64, 4), (SLOTS, 64, 1))
    assert (gate_up.weight.dtype, gate_up.scales.dtype, down.biases.dtype) == (mx.uint32, mx.bfloat16, mx.bfloat16)
    assert arena.nbytes == SLOTS * SHAPE.nbytes


def test_allocates_exactly_its_slots() -> None:
    mx.synchronize()
    before = mx.get_active_memory()
    mx.reset_peak_memory()
    arena = Arena(RecordShape(512, 256, 4, 64), 16)
    assert mx.get_peak_memory() - before <= arena.nbytes + 6 * 16384
    assert mx.get_active_memory() - before >= arena.nbytes


def test_gate_lies_above_up() -> None:
    arena = Arena(SHAPE, SLOTS)
    record = random_record(1)
    fill(arena, 1, record)
    weight = np.array(arena.arrays.gate_up.weight[1])
    assert weight[:32].tobytes() == record[:1024]
    assert weight[32:].tobytes() == record[1024:2048]
    scales = np.array(arena.arrays.gate_up.scales[1].view(mx.uint16))
    assert scales.tobytes() == record[2048 : 2048 + 256]
    assert np.array(arena.arrays.down.biases[1].view(mx.uint16)).tobytes() == record[-128:]


def test_slots_do_not_overlap() -> None:
    arena = Arena(SHAPE, SLOTS)
    records = [random_record(slot) for slot in range(SLOTS)]
    for slot, record in enumerate(records):
        fill(arena, slot, record)
    assert [held(arena, slot) for slot in range(SLOTS)] == records


def test_later_graphs_see_what_was_written_in_place() -> None:
    arena = Arena(SHAPE, SLOTS)
    gate_up = arena.arrays.gate_up
    x = mx.random.normal((1, SHAPE.hidden), key=mx.random.key(0))
    # A graph built before the write and one built after it, both evaluated after it.
    early = gate_up.scales[2].astype(mx.float32).sum()
    scale, bias = np.array([0x3F80], np.uint16).tobytes(), np.array([0xBF80], np.uint16).tobytes()
    for view, value in zip(
        arena.destinations(2), (b"\x11\x32", b"\x54\x76", scale, scale, bias, bias), strict=False
    ):
        view[:] = value * (len(view) // 2)
    late = mx.quantized_matmul(
        x, gate_up.weight[2], gate_up.scales[2], gate_up.biases[2], group_size=32, bits=4, transpose=True
    )
    nibbles = np.array([[1, 1, 2, 3] * 16] * 32 + [[4, 5, 6, 7] * 16] * 32, np.float64) - 1
    assert early.item() == 64 * 2
    np.testing.assert_allclose(np.array(late)[0], nibbles @ np.array(x, np.float64)[0], rtol=1e-4, atol=1e-4)


def test_arrays_outlive_many_rewrites() -> None:
    arena = Arena(SHAPE, 1)
    for seed in range(20):
        fill(arena, 0, random_record(seed))
        total = arena.arrays.down.weight[0].astype(mx.int64).sum().item()
        expected = np.frombuffer(random_record(seed)[-128 * 2 - 1024 : -128 * 2], np.uint32).astype(np.int64).sum()
        assert total == expected


def test_wrong_slots_are_refused() -> None:
    arena = Arena(SHAPE, SLOTS)
    for slot in (-1, SLOTS):
        with pytest.raises(IndexError, match="slot"):
            arena.destinations(slot)
    with pytest.raises(PlanError, match="at least one slot"):
        Arena(SHAPE, 0)
