"""Reader threads: records go from the file into their slots, several at a time. No MLX call is made here."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import count
from threading import Condition, Lock, Thread
from time import perf_counter

from engine.errors import EngineError
from engine.experts.files import FileSet
from engine.experts.record import ByteRange
from engine.experts.scatter import merge, read_run

State = Enum("State", ["QUEUED", "RUNNING", "DONE", "CANCELLED"])


class Job:
    """One record on its way into memory. `error` is set when it is done and did not arrive."""

    __slots__ = ("destinations", "error", "priority", "ranges", "state")

    def __init__(
        self, ranges: Callable[[], Sequence[ByteRange]], destinations: Sequence[memoryview], priority: int
    ) -> None:
        self.ranges = ranges
        self.destinations = destinations
        self.priority = priority
        self.state = State.QUEUED
        self.error: Exception | None = None

    @property
    def finished(self) -> bool:
        """Nothing writes to the destinations any more."""
        return self.state in (State.DONE, State.CANCELLED)

    @property
    def arrived(self) -> bool:
        """The destinations hold the record."""
        return self.state is State.DONE and self.error is None

    def check(self) -> None:
        """Raise what kept a finished job's record from arriving."""
        if self.error is not None:
            raise self.error
        if self.state is State.CANCELLED:
            raise EngineError("the read of an expert was cancelled")


@dataclass(frozen=True)
class ReadStats:
    """Totals since the pool began. `busy_s` is the time with at least one read in flight."""

    nbytes: int = 0
    records: int = 0
    busy_s: float = 0.0


class ReaderPool:
    """Threads that fill records, lowest `priority` first and in the order of submission within one priority."""

    def __init__(self, threads: int = 8, keep_cache: bool = True, name: str = "reader") -> None:
        if threads < 1:
            raise ValueError(f"at least one reader thread is needed, not {threads}")
        self.files = FileSet(keep_cache)
        self._lock = Lock()
        self._work = Condition(self._lock)
        self._done = Condition(self._lock)
        self._queue: list[tuple[int, int, Job]] = []
        self._serial = count()
        self._closing = False
        self._running = 0
        self._busy_since = 0.0
        self._stats = ReadStats()
        self._threads = [Thread(target=self._serve, name=f"{name}-{i}", daemon=True) for i in range(threads)]
        for thread in self._threads:
            thread.start()

    def submit(
        self, ranges: Callable[[], Sequence[ByteRange]], destinations: Sequence[memoryview], priority: int = 0
    ) -> Job:
        """Queue one record. `ranges` is called by the reader thread."""
        job = Job(ranges, destinations, priority)
        with self._lock:
            if self._closing:
                raise EngineError("the expert readers have been closed")
            heapq.heappush(self._queue, (priority, next(self._serial), job))
            self._work.notify()
        return job

    def promote(self, job: Job, priority: int) -> None:
        """Let a queued job go before others of a higher number."""
        with self._lock:
            if job.state is State.QUEUED and priority < job.priority:
                job.priority = priority
                # The older entry stays in the queue; it is skipped once the job has begun.
                heapq.heappush(self._queue, (priority, next(self._serial), job))

    def cancel(self, job: Job) -> bool:
        """Take a job back if no reader has begun it."""
        with self._lock:
            if job.state is not State.QUEUED:
                return False
            job.state = State.CANCELLED
            self._done.notify_all()
            return True

    def wait(self, jobs: Iterable[Job]) -> float:
        """Block until every job is finished and return the seconds blocked. Errors stay in the jobs."""
        unfinished = [job for job in jobs if not job.finished]
        if not unfinished:
            return 0.0
        began = perf_counter()
        with self._lock:
            for job in unfinished:
                while not job.finished:
                    self._done.wait()
        return perf_counter() - began

    def stats(self) -> ReadStats:
        with self._lock:
            busy = perf_counter() - self._busy_since if self._running else 0.0
            return ReadStats(self._stats.nbytes, self._stats.records, self._stats.busy_s + busy)

    def close(self) -> None:
        """Cancel what is queued, let running reads end, join the threads and close the files."""
        with self._lock:
            self._closing = True
            for _, _, job in self._queue:
                if job.state is State.QUEUED:
                    job.state = State.CANCELLED
            self._queue.clear()
            self._work.notify_all()
            self._done.notify_all()
        for thread in self._threads:
            thread.join()
        self.files.close()

    def _serve(self) -> None:
        while (job := self._take()) is not None:
            nbytes = 0
            try:
                for run in merge(job.ranges(), job.destinations):
                    nbytes += read_run(self.files, run)
            except Exception as error:  # noqa: BLE001 - whatever it is, the waiter has to see it
                job.error = error
            self._finish(job, nbytes)

    def _take(self) -> Job | None:
        with self._lock:
            while True:
                while self._queue:
                    job = heapq.heappop(self._queue)[2]
                    if job.state is State.QUEUED:
                        job.state = State.RUNNING
                        if self._running == 0:
                            self._busy_since = perf_counter()
                        self._running += 1
                        return job
                if self._closing:
                    return None
                self._work.wait()

    def _finish(self, job: Job, nbytes: int) -> None:
        with self._lock:
            job.state = State.DONE
            # The views would otherwise keep the arena alive through a forgotten job.
            job.destinations = ()
            self._running -= 1
            busy = perf_counter() - self._busy_since if self._running == 0 else 0.0
            done = self._stats
            self._stats = ReadStats(done.nbytes + nbytes, done.records + (job.error is None), done.busy_s + busy)
            self._done.notify_all()
