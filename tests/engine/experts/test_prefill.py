"""Prefill: every missing expert is read once, the hottest stay, a long prompt does not churn the arena."""

from __future__ import annotations

import numpy as np
import pytest

from engine.experts.arena import Arena
from engine.experts.streamer import ExpertStreamer
from tests.engine.experts.gate import Gate, when_waited_on
from tests.engine.experts.library import Library
from tests.engine.experts.traffic import K, check_group, decode, prefill, settle, streamer

ALL = {expert: expert + 1 for expert in range(8)}


def test_each_missing_expert_is_read_once(library: Library) -> None:
    under_test = streamer(library, slots=9)
    for layer in library.layers:
        prefill(under_test, library, layer, ALL)
    counters = under_test.counters()
    assert (counters.hits, counters.misses) == (0, 24)
    assert counters.bytes_read == counters.bytes_requested == 24 * library.shape.nbytes
    under_test.close()


def test_the_hottest_seed_the_arena(library: Library) -> None:
    under_test = streamer(library, slots=9)
    for layer in library.layers:
        prefill(under_test, library, layer, ALL)
    assert under_test.hot_list() == [(layer, expert) for layer in (3, 2, 1) for expert in (7, 6, 5)]
    under_test.reset_counters()
    decode(under_test, library, {layer: [7, 5] for layer in library.layers})
    counters = under_test.counters()
    assert (counters.hits, counters.misses, counters.bytes_read) == (6, 0, 0)
    under_test.close()


def test_more_chunks_take_at_most_half_a_share_per_layer(library: Library) -> None:
    under_test = streamer(library, slots=12)
    for layer in library.layers:
        prefill(under_test, library, layer, dict.fromkeys(range(4), 5))
    before = set(under_test.hot_list())
    for layer in library.layers:
        prefill(under_test, library, layer, dict.fromkeys(range(4, 8), 9))
    after = set(under_test.hot_list())
    assert {layer: sum(key[0] == layer for key in before - after) for layer in library.layers} == {1: 2, 2: 2, 3: 2}
    assert len(after) == 12
    under_test.close()


def test_the_same_chunk_again_reads_only_what_was_staged(library: Library) -> None:
    under_test = streamer(library, slots=9)
    for _ in range(3):
        under_test.reset_counters()
        for layer in library.layers:
            prefill(under_test, library, layer, ALL)
    counters = under_test.counters()
    assert (counters.hits, counters.misses) == (9, 15)
    under_test.close()


def test_nothing_is_staged_where_everything_fits(library: Library) -> None:
    under_test = streamer(library, slots=24)
    assert under_test.nbytes == 24 * library.shape.nbytes
    for layer in library.layers:
        for group in under_test.prefill_layer(layer, np.arange(8), np.ones(8, np.int64)):
            assert group.arrays is under_test.arena.arrays
            check_group(under_test, library, layer, group)
    for layer in library.layers:
        assert len(list(under_test.prefill_layer(layer, np.arange(8), np.ones(8, np.int64)))) == 1
    assert under_test.counters().bytes_read == 24 * library.shape.nbytes
    under_test.close()


def test_staged_groups_are_small_arrays_of_their_own(library: Library) -> None:
    under_test = streamer(library, slots=6, group_size=2)
    groups = list(under_test.prefill_layer(1, np.arange(8), np.arange(8)))
    staged = [group for group in groups if group.arrays is not under_test.arena.arrays]
    assert sum(len(group.experts) for group in staged) == 6
    assert all(group.arrays.gate_up.weight.shape[0] == 2 for group in staged)
    under_test.close()


def test_reads_run_ahead_of_the_caller(library: Library) -> None:
    under_test = streamer(library, slots=6, group_size=2)
    groups = under_test.prefill_layer(1, np.arange(8), np.arange(8))
    next(groups)
    settle(under_test, groups)
    # The caller holds the arena's group of two; three staged groups are there before it asks.
    assert under_test._pool.stats().records == 8
    under_test.close()


def test_buffers_are_not_taken_while_the_promise_lets_them_be_read(library: Library) -> None:
    under_test = streamer(library, slots=6, group_size=1)
    for _ in range(2):
        for layer in library.layers:
            prefill(under_test, library, layer, ALL)
    under_test.close()


def test_leaving_early_ends_what_was_begun_and_nothing_more_is_read(library: Library) -> None:
    gate = Gate(library)
    # Coldest first: 0 … 5 are staged, 6 and 7 stay; the first read that begins is that of 6.
    for first, taken in (((1, 6), 0), ((2, 0), 1)):
        under_test = streamer(library, slots=6, ranges=gate.ranges, readers=1)
        gate.begun, gate.held = [], {first}
        groups = under_test.prefill_layer(first[0], np.arange(8), np.arange(8))
        for _ in range(taken):
            next(groups)
        gate.wait_for(first)
        jobs = [job for _, _, jobs in groups._flying for job in jobs]
        if taken:
            when_waited_on(under_test._pool, gate.open)
        groups.close()
        assert all(job.finished for job in jobs)
        gate.open()
        decode(under_test, library, {3: [0, 1]})
        assert {key for key in gate.begun if key[0] != 3} == ({first} if not taken else {first, (2, 6), (2, 7)})
        under_test.close()
        gate = Gate(library)


def test_leaving_early_is_safe(library: Library) -> None:
    under_test = streamer(library, slots=6, readers=1)
    for taken in (0, 1, 2, 3):
        for layer in library.layers:
            groups = under_test.prefill_layer(layer, np.arange(8), np.arange(8))
            for _ in range(taken):
                check_group(under_test, library, layer, next(groups))
            if taken % 2:
                groups.close()
                assert list(groups) == []
        prefill(under_test, library, 2, ALL)
        decode(under_test, library, {1: [0, 1], 2: [2, 3], 3: [4, 5]})
    assert under_test.counters().dropped == 0
    under_test.close()


def test_prefill_refuses_what_it_cannot_mean(library: Library) -> None:
    under_test = streamer(library, slots=6)
    for ids, rows in (([1, 1], [1, 1]), ([1, 2], [1]), ([8], [1])):
        with pytest.raises(ValueError, match="layer 1"):
            under_test.prefill_layer(1, np.array(ids), np.array(rows))
    with under_test.step(), pytest.raises(RuntimeError, match="step is open"):
        under_test.prefill_layer(1, np.array([1]), np.array([1]))
    under_test.close()


def test_no_experts_no_groups(library: Library) -> None:
    under_test = streamer(library, slots=6)
    assert list(under_test.prefill_layer(1, np.array([], np.int32), np.array([], np.int64))) == []
    under_test.close()


def test_group_size_is_bounded_by_the_layer(library: Library) -> None:
    arena = Arena(library.shape, 6)
    under_test = ExpertStreamer(arena, library.ranges, library.layers, library.experts, K, 1, group_size=100)
    assert under_test.nbytes == (6 + 3 * 8) * library.shape.nbytes
    prefill(under_test, library, 1, ALL)
    under_test.close()
