"""What goes wrong is said, and leaves no slot believed to hold what it does not."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from engine.errors import CheckpointError, EngineError, PlanError
from engine.experts.streamer import ExpertStreamer
from tests.engine.experts.gate import Gate
from tests.engine.experts.library import Library
from tests.engine.experts.traffic import decode, prefill, streamer


@pytest.fixture
def gate(library: Library) -> Gate:
    return Gate(library)


@pytest.fixture
def under_test(library: Library, gate: Gate) -> Iterator[ExpertStreamer]:
    under_test = streamer(library, slots=6, ranges=gate.ranges)
    yield under_test
    under_test.close()


def test_fewer_slots_than_one_step_needs(library: Library) -> None:
    with pytest.raises(PlanError, match=r"uses 6 experts \(3 layers × 2\), the arena has 5 slots"):
        streamer(library, slots=5)


def test_a_failed_read_reaches_the_waiter_and_is_read_again(
    library: Library, gate: Gate, under_test: ExpertStreamer
) -> None:
    gate.beyond = {(2, 3)}
    with pytest.raises(CheckpointError, match=r"[ab]\.bin: the file ends at byte \d+"):
        decode(under_test, library, {1: [0, 1], 2: [2, 3]})
    assert under_test.counters().dropped == 1
    assert (2, 3) not in under_test.hot_list()
    gate.beyond = set()
    under_test.reset_counters()
    decode(under_test, library, {1: [0, 1], 2: [2, 3]})
    assert (under_test.counters().hits, under_test.counters().misses) == (3, 1)


def test_every_wait_for_a_failed_read_fails(gate: Gate, under_test: ExpertStreamer) -> None:
    gate.beyond = {(1, 0)}
    with under_test.step():
        ticket = under_test.request(1, [0, 1])
        for _ in range(2):
            with pytest.raises(CheckpointError):
                ticket.wait()
        assert not ticket.ready[0]


def test_a_failed_prediction_does_not_count_as_there(
    library: Library, gate: Gate, under_test: ExpertStreamer
) -> None:
    gate.beyond = {(1, 0)}
    with under_test.step():
        under_test.prefetch({1: [0, 1]})
        under_test._pool.wait(under_test._residents.jobs([(1, 0), (1, 1)]))
        under_test.request(1, [1]).wait()
    gate.beyond = set()
    decode(under_test, library, {1: [0, 1]})


def test_a_failed_read_in_prefill_ends_the_layer_and_nothing_else(
    library: Library, gate: Gate, under_test: ExpertStreamer
) -> None:
    rows = dict.fromkeys(range(8), 1)
    for bad in range(8):
        gate.beyond = {(1, bad)}
        with pytest.raises(CheckpointError, match=r"\.bin"):
            prefill(under_test, library, 1, rows)
        assert (1, bad) not in under_test.hot_list()
        gate.beyond = set()
        prefill(under_test, library, 1, rows)
        # Make (1, bad + 1) absent again, so that its turn to fail comes.
        for layer in (2, 3):
            decode(under_test, library, {1: [bad, (bad + 2) % 8], layer: [0, 1]})
        decode(under_test, library, {1: [bad, (bad + 2) % 8], 2: [4, 5], 3: [6, 7]})


def test_a_step_that_asks_for_too_much_is_told_so(library: Library, under_test: ExpertStreamer) -> None:
    with under_test.step():
        for layer in library.layers:
            under_test.request(layer, [0, 1]).wait()
        with pytest.raises(PlanError, match="all 6 expert slots are in use"):
            under_test.request(3, [2, 3])
    assert under_test.counters().dropped == 2


def test_unknown_experts_and_layers(under_test: ExpertStreamer) -> None:
    with under_test.step():
        for layer, expert in ((1, 8), (1, -1), (0, 0), (4, 0)):
            with pytest.raises(ValueError, match=f"no expert {expert} in layer {layer}"):
                under_test.request(layer, [expert])
            with pytest.raises(ValueError, match=f"no expert {expert} in layer {layer}"):
                under_test.prefetch({layer: [expert]})
        with pytest.raises(ValueError, match="3 experts predicted, a step uses 2"):
            under_test.prefetch({1: [0, 1, 2]})


def test_steps_out_of_order(under_test: ExpertStreamer) -> None:
    with pytest.raises(RuntimeError, match="no step"):
        under_test.request(1, [0])
    with under_test.step():
        with pytest.raises(RuntimeError, match="not been ended"):
            under_test.begin_step()
        with pytest.raises(RuntimeError, match="step is open"):
            under_test.seed([(1, 1)])
    under_test.end_step()


@pytest.mark.parametrize("how", ["truncated", "rewritten"])
def test_a_file_changed_under_a_loaded_model(tmp_path: Path, how: str) -> None:
    library = Library(tmp_path)
    under_test = streamer(library, slots=6)
    decode(under_test, library, {layer: [0, 1] for layer in library.layers})
    if how == "truncated":
        os.truncate(library.paths[0], 100)
    else:
        os.utime(library.paths[1], ns=(0, 1))
    with pytest.raises(CheckpointError, match=r"[ab]\.bin: changed while it was in use"):
        under_test.begin_step()
    with pytest.raises(CheckpointError, match=r"[ab]\.bin: changed while it was in use"):
        under_test.prefill_layer(1, np.array([0]), np.array([1]))
    under_test.close()


def test_a_truncated_file_is_named_when_first_read(tmp_path: Path) -> None:
    library = Library(tmp_path)
    for path in library.paths:
        os.truncate(path, 2000)
    under_test = streamer(library, slots=6)
    with pytest.raises(CheckpointError, match=r"[ab]\.bin: the file ends at byte 2000"):
        decode(under_test, library, {1: [0, 1]})
    under_test.close()


def test_a_missing_file_is_named_when_first_read(tmp_path: Path) -> None:
    library = Library(tmp_path)
    library.paths[0].unlink()
    library.paths[1].unlink()
    under_test = streamer(library, slots=6)
    with pytest.raises(CheckpointError, match=r"[ab]\.bin: cannot be opened"):
        decode(under_test, library, {1: [0, 1]})
    under_test.close()


def test_closed(library: Library) -> None:
    under_test = streamer(library, slots=6)
    under_test.close()
    with under_test.step(), pytest.raises(EngineError, match="closed"):
        under_test.request(1, [0, 1])
