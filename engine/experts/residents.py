"""The experts in the arena and those on their way: slot table, arena and readers kept in agreement."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial

from engine.experts.arena import Arena
from engine.experts.readers import Job, ReaderPool
from engine.experts.record import Key, Ranges
from engine.experts.slot_table import SlotTable


class Residents:
    """Every key in the table has its bytes in its slot, or a job in `pending` that is bringing them.

    A job that failed is noticed when its key is settled, and the key is forgotten then; no slot is ever believed
    to hold what did not arrive. Used by the thread that owns MLX only.
    """

    def __init__(self, arena: Arena, ranges: Ranges, pool: ReaderPool) -> None:
        self.arena = arena
        self.table = SlotTable(arena.slots)
        self.pool = pool
        self.pending: dict[Key, Job] = {}
        self._ranges = ranges

    def find(self, key: Key, priority: int) -> int | None:
        """The key's slot, touched; its bytes may still be on their way. None if it has to be fetched."""
        self._settle_if_finished(key)
        if (job := self.pending.get(key)) is not None:
            self.pool.promote(job, priority)
        return self.table.lookup(key)

    def fetch(self, key: Key, priority: int, victim: Key | None = None) -> int:
        """Admit an absent key and begin to read it. PlanError if every slot is pinned."""
        slot = self.table.admit(key, victim).slot
        try:
            self.pending[key] = self.submit(key, self.arena.destinations(slot), priority)
        except BaseException:
            self.table.discard(key)
            raise
        return slot

    def submit(self, key: Key, destinations: Sequence[memoryview], priority: int) -> Job:
        """Begin to read a record anywhere."""
        return self.pool.submit(partial(self._ranges, *key), destinations, priority)

    def jobs(self, keys: Iterable[Key]) -> list[Job]:
        """The jobs that have to finish before these keys can be used."""
        return [self.pending[key] for key in keys if key in self.pending]

    def settle(self) -> None:
        """Take note of every job that has finished."""
        for key in list(self.pending):
            self._settle_if_finished(key)

    def take_back(self, key: Key) -> bool:
        """Forget a key whose read has not begun."""
        job = self.pending.get(key)
        if job is None or not self.pool.cancel(job):
            return False
        self._settle_if_finished(key)
        return True

    def make_room(self) -> float:
        """Give up reads that no open step waits for, and return the seconds blocked until their slots are free."""
        idle = [key for key in self.pending if not self.table.in_use(key)]
        seconds = self.pool.wait(self.jobs([key for key in idle if not self.take_back(key)]))
        self.settle()
        return seconds

    def _settle_if_finished(self, key: Key) -> None:
        job = self.pending.get(key)
        if job is None or not job.finished:
            return
        del self.pending[key]
        if job.arrived:
            self.table.filled(key)
        else:
            self.table.discard(key)
