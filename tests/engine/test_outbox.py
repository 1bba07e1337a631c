"""The writer of events: paced, complete, and never in the way of the computing thread."""

from __future__ import annotations

import threading
import time
from itertools import pairwise

from engine.process.batching import INTERVAL
from engine.process.outbox import Outbox
from engine.protocol import Counters, Delta, Event, Finished, Heartbeat, Piece, Prefilling
from engine.wire import decode


def delta(text: str, tokens: int, id: str = "g") -> Delta:
    return Delta(id, [Piece("answer", text)], Counters(completion_tokens=tokens))


def text_of(events: list[Event]) -> str:
    return "".join(piece.text for event in events if isinstance(event, Delta) for piece in event.pieces)


class Sink:
    """Keeps decoded events with the time each was written; blocks while `gate` is clear."""

    def __init__(self) -> None:
        self.written: list[tuple[float, Event]] = []
        self.gate = threading.Event()
        self.gate.set()

    def write(self, line: bytes) -> None:
        self.gate.wait()
        event = decode(line)
        assert isinstance(event, Event)
        self.written.append((time.monotonic(), event))

    def deltas(self) -> list[tuple[float, Delta]]:
        return [(at, event) for at, event in self.written if isinstance(event, Delta)]


def test_at_most_one_delta_per_interval_and_nothing_lost() -> None:
    sink = Sink()
    outbox = Outbox(sink.write, on_broken=lambda: None)
    started = time.monotonic()
    for number in range(100):
        outbox.put(delta(f"{number} ", number + 1))
        time.sleep(0.003)
    outbox.put(Finished("g", "stop", "", "", [], [], Counters()))
    assert outbox.close(2)
    deltas = sink.deltas()
    assert deltas[0][1].counters.completion_tokens == 1, "the first token goes out at once"
    paced = [at for at, _ in deltas][:-1]  # the last may be flushed by the end
    gaps = [after - before for before, after in pairwise(paced)]
    assert gaps and min(gaps) >= INTERVAL
    assert len(deltas) <= (time.monotonic() - started) / INTERVAL + 2
    assert text_of([event for _, event in sink.written]) == "".join(f"{number} " for number in range(100))
    assert all(len(event.pieces) == 1 for _, event in deltas)
    assert [event.counters.completion_tokens for _, event in deltas][-1] == 100
    assert isinstance(sink.written[-1][1], Finished)


def test_a_held_delta_goes_out_without_another_event() -> None:
    sink = Sink()
    outbox = Outbox(sink.write, on_broken=lambda: None)
    outbox.put(delta("a", 1))
    outbox.put(delta("b", 2))
    deadline = time.monotonic() + 2
    while text_of([event for _, event in sink.written]) != "ab" and time.monotonic() < deadline:
        time.sleep(0.01)
    assert text_of([event for _, event in sink.written]) == "ab"
    outbox.close(1)


def test_first_delta_does_not_wait_behind_a_prefill_report() -> None:
    sink = Sink()
    outbox = Outbox(sink.write, on_broken=lambda: None, interval=5.0)
    outbox.put(Prefilling("g", 1, 2, 0, Counters()))
    outbox.put(Prefilling("g", 2, 2, 0, Counters()))
    outbox.put(delta("a", 1))
    outbox.put(Finished("g", "stop", "", "", [], [], Counters()))
    assert outbox.close(1), "an interval of 5 s must not be waited for"
    kinds = [type(event) for _, event in sink.written]
    assert kinds[-2:] == [Delta, Finished] and Prefilling in kinds


def test_a_blocked_reader_does_not_block_the_writer_of_events() -> None:
    sink = Sink()
    sink.gate.clear()
    outbox = Outbox(sink.write, on_broken=lambda: None)
    for number in range(2000):
        outbox.put(delta("x", number + 1))
        outbox.put(Heartbeat(float(number)))
    assert not sink.written
    sink.gate.set()
    assert outbox.close(30)
    assert text_of([event for _, event in sink.written]) == "x" * 2000
    assert len(sink.written) < 50


def test_a_broken_stream_is_reported() -> None:
    broken = threading.Event()

    def write(line: bytes) -> None:
        raise BrokenPipeError

    Outbox(write, on_broken=broken.set).put(Heartbeat(1.0))
    assert broken.wait(2)
