"""One layer's experts for many tokens: each is read once, the hottest stay, the others pass through staging."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from engine.experts.admission import Share, admissible
from engine.experts.counters import Traffic
from engine.experts.delivery import deliver
from engine.experts.readers import Job
from engine.experts.record import Key
from engine.experts.residents import Residents
from engine.experts.staging import Staging
from engine.experts.window import Window
from engine.kernels.types import ExpertArrays

Indices = npt.NDArray[np.int32]
_PRIORITY = 0


@dataclass(frozen=True)
class Group:
    """Experts whose bytes are in `slots` of `arrays`; positions, experts and slots are int32 [g].

    `positions` index the expert ids the layer asked for.
    """

    positions: Indices
    experts: Indices
    slots: Indices
    arrays: ExpertArrays


class LayerPass:
    """Iterates over groups that together hold every expert once; what is resident comes first.

    Reads begin on construction. `close` gives up what was not asked for, and returns only when nothing writes to
    the staging buffers any more; it is called by itself at the end and on an error.
    """

    def __init__(
        self,
        residents: Residents,
        staging: Staging | None,
        window: Window,
        traffic: Traffic,
        share: Share,
        keys: Sequence[Key],
        rows: npt.NDArray[np.integer],
    ) -> None:
        """`keys` are distinct, `rows` [G] says how many tokens each serves. Without staging all are admitted."""
        self._residents, self._staging, self._window, self._traffic = residents, staging, window, traffic
        self._keys = keys
        self._closed = False
        self._step = residents.table.begin_step()
        # Coldest first, so that the hottest are the most recently used and evicted last.
        order = [int(i) for i in np.argsort(rows, kind="stable")]
        found = [i for i in order if residents.find(keys[i], _PRIORITY) is not None]
        missing = [i for i in order if keys[i] not in residents.table]
        self._count(len(found), len(missing))
        kept = admissible(share, len(missing), len(found), residents.table.free, len(residents.table.evictable()))
        admitted, staged = missing[len(missing) - kept :], missing[: len(missing) - kept]
        self._admit(admitted)
        self._divide([*found, *admitted], staged)
        self._flying: deque[tuple[int, list[int], list[Job]]] = deque()
        self._read_ahead()

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Group:
        if not (self._settled or self._staged or self._flying):
            self.close()
        if self._closed:
            raise StopIteration
        try:
            number = self._window.ask()
            self._read_ahead()
            return self._from_arena() if self._settled else self._from_staging(number)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Leave early, or at the end. Harmless when repeated."""
        if self._closed:
            return
        self._closed = True
        self._staged.clear()
        for members in self._settled:
            for i in members:
                self._residents.take_back(self._keys[i])
        pool = self._residents.pool
        pool.wait([job for _, _, jobs in self._flying for job in jobs if not pool.cancel(job)])
        for buffer, _, _ in self._flying:
            self._stage_memory.give(buffer, 0)
        self._settled.clear()
        self._flying.clear()
        self._residents.settle()
        self._window.end_pass(self._step)

    @property
    def _stage_memory(self) -> Staging:
        assert self._staging is not None, "nothing is staged where everything fits"
        return self._staging

    def _count(self, hits: int, misses: int) -> None:
        self._traffic.hits += hits
        self._traffic.misses += misses
        self._traffic.bytes_requested += misses * self._residents.arena.shape.nbytes

    def _admit(self, members: Sequence[int]) -> None:
        """Begin to read experts into the arena, at the cost of this layer's own idle ones before any other's."""
        table = self._residents.table
        own = deque(key for key in table.evictable() if key[0] == self._keys[0][0]) if members else deque[Key]()
        for i in members:
            victim = own.popleft() if own and not table.free else None
            self._residents.fetch(self._keys[i], _PRIORITY, victim)

    def _divide(self, settled: Sequence[int], staged: Sequence[int]) -> None:
        """One group of what is there already, then small groups in the order in which they are read."""
        pending = self._residents.pending
        ready = [i for i in settled if self._keys[i] not in pending]
        coming = [i for i in settled if self._keys[i] in pending]
        size = self._staging.group_size if self._staging else 8
        self._settled = deque([*([ready] if ready else []), *_chunks(coming, size)])
        self._staged = deque(_chunks(staged, size))

    def _read_ahead(self) -> None:
        """Begin to read the next staged groups into every buffer that is free."""
        while self._staged:
            buffer = self._stage_memory.take(self._window.evaluated)
            if buffer is None:
                return
            members, arena = self._staged.popleft(), self._stage_memory.buffers[buffer]
            jobs = [
                self._residents.submit(self._keys[i], arena.destinations(slot), _PRIORITY)
                for slot, i in enumerate(members)
            ]
            self._flying.append((buffer, members, jobs))

    def _from_arena(self) -> Group:
        members = self._settled[0]
        keys = [self._keys[i] for i in members]
        deliver(self._residents.pool, self._residents.jobs(keys), self._traffic)
        self._settled.popleft()
        slots = [slot for key in keys if (slot := self._residents.table.peek(key)) is not None]
        return self._group(members, slots, self._residents.arena.arrays)

    def _from_staging(self, number: int) -> Group:
        buffer, members, jobs = self._flying[0]
        deliver(self._residents.pool, jobs, self._traffic)
        self._flying.popleft()
        self._stage_memory.give(buffer, number)
        return self._group(members, range(len(members)), self._stage_memory.buffers[buffer].arrays)

    def _group(self, members: Sequence[int], slots: Sequence[int], arrays: ExpertArrays) -> Group:
        experts = [self._keys[i][1] for i in members]
        return Group(_indices(members), _indices(experts), _indices(slots), arrays)


def _indices(values: Sequence[int]) -> Indices:
    return np.array(values, dtype=np.int32)


def _chunks(members: Sequence[int], size: int) -> list[list[int]]:
    return [list(members[i : i + size]) for i in range(0, len(members), size)]
