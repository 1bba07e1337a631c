"""Reads in flight: what is ready, what is not, and which slots may be taken meanwhile."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from engine.experts.streamer import ExpertStreamer
from tests.engine.experts.gate import Gate, when_waited_on
from tests.engine.experts.library import Library, held
from tests.engine.experts.traffic import decode, streamer


@pytest.fixture
def gate(library: Library) -> Gate:
    return Gate(library)


@pytest.fixture
def one_reader(library: Library, gate: Gate) -> Iterator[ExpertStreamer]:
    """The smallest arena, six slots, and a single reader."""
    under_test = streamer(library, slots=6, ranges=gate.ranges, readers=1)
    yield under_test
    gate.open()
    under_test.close()


def test_hits_are_ready_while_misses_load(library: Library, gate: Gate, one_reader: ExpertStreamer) -> None:
    decode(one_reader, library, {1: [0, 1]})
    gate.held = {(1, 5)}
    with one_reader.step():
        ticket = one_reader.request(1, [5, 0])
        assert list(ticket.ready) == [False, True]
        assert held(one_reader.arena, int(ticket.slots[1])) == library.records[1, 0]
        when_waited_on(one_reader._pool, gate.open)
        ticket.wait()
        assert held(one_reader.arena, int(ticket.slots[0])) == library.records[1, 5]
    assert one_reader.wait_s >= 0.02
    assert one_reader.bandwidth > 0
    one_reader.reset_counters()
    assert (one_reader.wait_s, one_reader.counters().misses, one_reader.counters().bytes_read) == (0, 0, 0)


def test_a_predicted_expert_is_read_once_and_ready_when_asked(
    library: Library, gate: Gate, one_reader: ExpertStreamer
) -> None:
    with one_reader.step():
        one_reader.prefetch({1: [0, 1], 2: [2, 3]})
        gate.wait_for((2, 3))
        one_reader.request(1, [0, 1]).wait()
        one_reader.request(2, [3, 2]).wait()
        assert list(one_reader.request(2, [2, 3]).ready) == [True, True]
    assert sorted(gate.begun) == [(1, 0), (1, 1), (2, 2), (2, 3)]
    assert (one_reader.counters().hits, one_reader.counters().misses) == (0, 4)


def test_a_layers_own_reads_go_before_those_predicted_for_later_ones(
    gate: Gate, one_reader: ExpertStreamer
) -> None:
    gate.held = {(2, 0)}
    with one_reader.step():
        one_reader.prefetch({2: [0, 1], 3: [0, 1]})
        gate.wait_for((2, 0))
        ticket = one_reader.request(1, [6, 7])
        gate.open()
        ticket.wait()
        assert gate.begun[:3] == [(2, 0), (1, 6), (1, 7)]


def test_a_wrong_prediction_is_not_read_if_it_has_not_begun(
    library: Library, gate: Gate, one_reader: ExpertStreamer
) -> None:
    gate.held = {(1, 0)}
    with one_reader.step():
        one_reader.prefetch({1: [0, 1], 2: [0, 1], 3: [0, 1]})
        gate.wait_for((1, 0))
        ticket = one_reader.request(2, [6, 7])
        gate.open()
        ticket.wait()
    assert not {(2, 0), (2, 1)} & set(gate.begun)
    assert (2, 0) not in one_reader.hot_list()


def test_a_slot_being_filled_is_not_taken(library: Library, gate: Gate, one_reader: ExpertStreamer) -> None:
    gate.held = {(1, 0)}
    with one_reader.step():
        one_reader.prefetch({1: [0, 1], 2: [0, 1], 3: [0, 1]})
        gate.wait_for((1, 0))
    # The reader still writes to the slot of (1, 0); every other prediction was taken back.
    with one_reader.step():
        tickets = [one_reader.request(layer, experts) for layer, experts in ((1, [4, 5]), (2, [4, 5]))]
        when_waited_on(one_reader._pool, gate.open)
        tickets.append(one_reader.request(3, [4, 5]))
        for ticket in tickets:
            ticket.wait()
        for ticket in tickets:
            for slot, expert in zip(ticket.slots, (4, 5), strict=True):
                assert held(one_reader.arena, int(slot)) == library.records[ticket.layer, expert]
    assert one_reader.counters().dropped == 0


def test_predictions_nobody_asked_for_end_with_the_step(library: Library, gate: Gate) -> None:
    # Twelve slots, so that nothing has to be taken back for want of room.
    roomy = streamer(library, slots=12, ranges=gate.ranges, readers=1)
    gate.held = {(1, 0)}
    with roomy.step():
        roomy.prefetch({1: [0, 1], 2: [0, 1], 3: [0, 1]})
        gate.wait_for((1, 0))
    gate.open()
    with roomy.step():
        roomy.request(3, [6]).wait()
    assert gate.begun == [(1, 0), (3, 6)]
    roomy.close()


def test_a_ticket_is_worthless_after_its_step(one_reader: ExpertStreamer) -> None:
    with one_reader.step():
        ticket = one_reader.request(1, [0, 1])
    with pytest.raises(RuntimeError, match="step has ended"):
        ticket.wait()


def test_seeds_give_way(library: Library, gate: Gate, one_reader: ExpertStreamer) -> None:
    gate.held = {(3, 5)}
    hot = [(3, 0), (3, 1), (9, 9), (1, 99), (3, 2), (3, 3), (3, 4), (3, 5), (3, 6)]
    assert one_reader.seed(hot) == 6
    gate.wait_for((3, 5))
    when_waited_on(one_reader._pool, gate.open)
    decode(one_reader, library, {1: [0, 1], 2: [0, 1], 3: [0, 1]})
    assert one_reader.counters().dropped == 0


def test_a_hot_list_seeds_another_arena(library: Library) -> None:
    first, second = streamer(library, slots=8), streamer(library, slots=6)
    decode(first, library, {1: [0, 1], 2: [0, 1], 3: [0, 1]})
    decode(first, library, {1: [2, 3]})
    hot = first.hot_list()
    assert second.seed(hot) == 6
    decode(second, library, {1: [2, 3], 2: [0, 1], 3: [0, 1]})
    assert (second.counters().hits, second.counters().misses) == (6, 0)
    first.close()
    second.close()
