"""One decode step: what its layers ask for, what was read ahead for them, and what that cost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from engine.errors import PlanError
from engine.experts.counters import Traffic
from engine.experts.delivery import deliver
from engine.experts.readers import Job
from engine.experts.record import Key
from engine.experts.residents import Residents
from engine.experts.ticket import Ticket


class Step:
    """Slots handed out by a step are pinned until it ends. Reads of earlier layers go first."""

    def __init__(self, residents: Residents, traffic: Traffic, experts_per_token: int) -> None:
        self._residents = residents
        self._traffic = traffic
        self._limit = experts_per_token
        self._number = residents.table.begin_step()
        self._open = True
        self._predicted: dict[int, set[Key]] = {}
        self._admitted: set[Key] = set()
        self._asked: set[Key] = set()

    def prefetch(self, routes: Mapping[int, Sequence[int]]) -> None:
        """Pin and begin to read what the layers are expected to ask for, at most K experts each.

        Only a hint: it stops where no slot is left, and nothing is reported until a layer asks.
        """
        self._check_open()
        absent: list[Key] = []
        for layer, experts in sorted(routes.items()):
            keys = {(layer, int(expert)) for expert in experts}
            expected = self._predicted.get(layer, set()) | keys
            if len(expected) > self._limit:
                raise ValueError(f"layer {layer}: {len(expected)} experts predicted, a step uses {self._limit}")
            self._predicted[layer] = expected
            absent += [key for key in sorted(keys) if self._residents.find(key, layer) is None]
        for key in absent:
            try:
                self._residents.fetch(key, priority=key[0])
            except PlanError:
                return
            self._admitted.add(key)

    def request(self, layer: int, experts: Sequence[int]) -> Ticket:
        """Slots for the experts a layer uses, in their order; what is missing begins to be read at once.

        Raises PlanError when the step asks for more experts than there are slots.
        """
        self._check_open()
        keys = [(layer, int(expert)) for expert in experts]
        distinct = list(dict.fromkeys(keys))
        self._let_go(self._predicted.pop(layer, set()).difference(distinct))
        # Every resident is pinned before anything is admitted, or one could evict the other.
        slots = {key: slot for key in distinct if (slot := self._residents.find(key, layer)) is not None}
        for key in [key for key in distinct if key not in slots]:
            try:
                slots[key] = self._fetch(key)
            except PlanError:
                self._traffic.dropped += len(distinct) - len(slots)
                raise
        self._count(distinct)
        pending = {key: job for key in distinct if (job := self._residents.pending.get(key)) is not None}
        ready = [key not in pending or pending[key].arrived for key in keys]
        return Ticket(
            layer,
            np.array([slots[key] for key in keys], dtype=np.int32),
            np.array(ready, dtype=np.bool_),
            tuple(pending.values()),
            self._wait,
        )

    def end(self) -> None:
        """Unpin the step's slots; predictions nobody asked for are no longer read."""
        if not self._open:
            return
        self._open = False
        self._let_go(key for keys in self._predicted.values() for key in keys)
        self._residents.settle()
        self._residents.table.release(self._number)

    def _fetch(self, key: Key) -> int:
        try:
            slot = self._residents.fetch(key, priority=key[0])
        except PlanError:
            self._traffic.wait_s += self._residents.make_room()
            slot = self._residents.fetch(key, priority=key[0])
        self._admitted.add(key)
        return slot

    def _let_go(self, keys: Iterable[Key]) -> None:
        for key in keys:
            if key in self._asked or key not in self._residents.table:
                continue
            if not self._residents.take_back(key):
                self._residents.table.unpin(key)

    def _count(self, keys: Sequence[Key]) -> None:
        for key in keys:
            if key in self._asked:
                continue
            self._asked.add(key)
            if key in self._admitted:
                self._traffic.misses += 1
                self._traffic.bytes_requested += self._residents.arena.shape.nbytes
            else:
                self._traffic.hits += 1

    def _wait(self, jobs: Sequence[Job]) -> None:
        self._check_open()
        deliver(self._residents.pool, jobs, self._traffic)

    def _check_open(self) -> None:
        if not self._open:
            raise RuntimeError("the step has ended; its slots may hold other experts")
