"""The reader pool: order, priorities, errors, accounting, a clean end."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from engine.errors import CheckpointError, EngineError
from engine.experts.readers import ReaderPool, State
from engine.experts.record import ByteRange
from tests.engine.experts.gate import when_waited_on
from tests.engine.experts.library import Library

Gate = Callable[[], Sequence[ByteRange]]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "shard.bin"
    path.write_bytes(bytes(100))
    return path


@pytest.fixture
def pool() -> Iterator[ReaderPool]:
    pool = ReaderPool(threads=1)
    yield pool
    pool.close()


class Blocker:
    """Ranges that occupy a reader until `release`."""

    def __init__(self) -> None:
        self.begun = threading.Event()
        self._release = threading.Event()

    def ranges(self) -> Sequence[ByteRange]:
        self.begun.set()
        assert self._release.wait(60)
        return []

    def release(self) -> None:
        self._release.set()


def test_records_arrive_through_many_threads(library: Library) -> None:
    pool = ReaderPool(threads=4)
    buffers = {key: [bytearray(size) for size in library.shape.pieces] for key in library.records}
    jobs = [
        pool.submit(lambda key=key: library.ranges(*key), [memoryview(b) for b in pieces])  # type: ignore[misc]
        for key, pieces in buffers.items()
    ]
    pool.wait(jobs)
    assert all(job.arrived for job in jobs)
    assert {key: b"".join(pieces) for key, pieces in buffers.items()} == library.records
    stats = pool.stats()
    assert (stats.nbytes, stats.records) == (len(buffers) * library.shape.nbytes, len(buffers))
    assert stats.busy_s > 0
    pool.close()


def test_order_of_submission_within_a_priority(pool: ReaderPool) -> None:
    blocker, order = Blocker(), list[str]()

    def note(name: str) -> Gate:
        return lambda: order.append(name) or []  # type: ignore[func-returns-value]

    first = pool.submit(blocker.ranges, [])
    assert blocker.begun.wait(60)
    jobs = [pool.submit(note(name), [], int(name[0])) for name in ("2a", "1a", "2b", "1b", "0a", "9z", "9y")]
    pool.promote(jobs[-1], 0)
    blocker.release()
    pool.wait([first, *jobs])
    assert order == ["0a", "9y", "1a", "1b", "2a", "2b", "9z"]


def test_a_queued_job_can_be_cancelled_a_running_one_cannot(pool: ReaderPool, path: Path) -> None:
    blocker = Blocker()
    running = pool.submit(blocker.ranges, [])
    assert blocker.begun.wait(60)
    target = bytearray(b"untouched")
    queued = pool.submit(lambda: [ByteRange(path, 0, 9)], [memoryview(target)])
    assert pool.cancel(queued)
    assert not pool.cancel(running)
    assert pool.wait([queued]) == 0
    blocker.release()
    pool.wait([running])
    assert running.state is State.DONE
    assert target == b"untouched"
    with pytest.raises(EngineError, match="cancelled"):
        queued.check()


def test_an_error_reaches_the_waiter_and_the_pool_goes_on(pool: ReaderPool, path: Path) -> None:
    bad = pool.submit(lambda: [ByteRange(path, 95, 10)], [memoryview(bytearray(10))])
    broken = pool.submit(lambda: [][1], [])
    good = pool.submit(lambda: [ByteRange(path, 0, 10)], [memoryview(bytearray(10))])
    pool.wait([bad, broken, good])
    with pytest.raises(CheckpointError, match=r"shard\.bin.*byte 100"):
        bad.check()
    with pytest.raises(IndexError):
        broken.check()
    good.check()
    assert pool.stats().records == 1


def test_waiting_is_measured(pool: ReaderPool) -> None:
    blocker = Blocker()
    job = pool.submit(blocker.ranges, [])
    when_waited_on(pool, blocker.release)
    assert pool.wait([job]) >= 0.02
    assert pool.wait([job]) == 0


def test_close_cancels_waits_and_refuses(path: Path) -> None:
    pool = ReaderPool(threads=1, name="close")
    blocker = Blocker()
    running = pool.submit(blocker.ranges, [])
    assert blocker.begun.wait(60)
    queued = pool.submit(list, [])
    threading.Timer(0.05, blocker.release).start()
    pool.close()
    assert (running.state, queued.state) == (State.DONE, State.CANCELLED)
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("close-")]
    with pytest.raises(EngineError, match="closed"):
        pool.submit(list, [])


def test_at_least_one_thread() -> None:
    with pytest.raises(ValueError, match="not 0"):
        ReaderPool(threads=0)
