"""Which expert is in which slot. Pure bookkeeping: no bytes, no threads, no clock."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from engine.errors import PlanError
from engine.experts.record import Key


class Admission(NamedTuple):
    slot: int
    evicted: Key | None


@dataclass
class _Entry:
    slot: int
    step: int
    filling: bool


class SlotTable:
    """Least-recently-used table of experts over a fixed number of slots.

    Every touch stamps an entry with the open step. An entry is pinned while its step has not been released, or
    while it is being filled; a pinned entry is never evicted.
    """

    def __init__(self, slots: int) -> None:
        if slots < 1:
            raise PlanError(f"an expert arena needs at least one slot, not {slots}")
        self.slots = slots
        self._entries: OrderedDict[Key, _Entry] = OrderedDict()
        self._free = list(range(slots - 1, -1, -1))
        self._step = 0
        self._released = 0

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, key: Key) -> bool:
        return key in self._entries

    def __iter__(self) -> Iterator[Key]:
        """Keys from the least to the most recently used."""
        return iter(self._entries)

    @property
    def free(self) -> int:
        return len(self._free)

    def begin_step(self) -> int:
        """Open a step: what is touched from now on stays pinned until this step is released."""
        self._step += 1
        return self._step

    def release(self, step: int | None = None) -> None:
        """Unpin everything last touched in `step` or before; without a step, everything."""
        self._released = self._step if step is None else max(self._released, min(step, self._step))

    def in_use(self, key: Key) -> bool:
        """Whether a step that has not been released touched the key."""
        return self._entries[key].step > self._released

    def pinned(self, key: Key) -> bool:
        """Whether the key must keep its slot: in use, or being filled."""
        return self._entries[key].filling or self.in_use(key)

    def peek(self, key: Key) -> int | None:
        """The key's slot, without touching it."""
        entry = self._entries.get(key)
        return None if entry is None else entry.slot

    def lookup(self, key: Key) -> int | None:
        """The key's slot, now the most recently used and pinned by the open step."""
        entry = self._entries.get(key)
        if entry is None:
            return None
        entry.step = self._step
        self._entries.move_to_end(key)
        return entry.slot

    def admit(self, key: Key, victim: Key | None = None) -> Admission:
        """Give an absent key a free slot, else that of `victim`, else that of the least recently used.

        The entry is being filled, hence pinned, until `filled` or `discard`. Raises PlanError when every slot is
        pinned; the table is then unchanged.
        """
        if key in self._entries:
            raise ValueError(f"{key} is in the table already")
        evicted = None
        if not self._free:
            evicted = self._least_recent() if victim is None else victim
            if self.pinned(evicted):
                raise ValueError(f"{evicted} is pinned")
            self._free.append(self._entries.pop(evicted).slot)
        slot = self._free.pop()
        self._entries[key] = _Entry(slot, self._step, filling=True)
        return Admission(slot, evicted)

    def filled(self, key: Key) -> None:
        """The key's bytes are in its slot."""
        self._entries[key].filling = False

    def discard(self, key: Key) -> None:
        """Forget a key whose slot holds nothing valid. Nothing may be writing or reading that slot any more."""
        self._free.append(self._entries.pop(key).slot)

    def unpin(self, key: Key) -> None:
        """Let go of a key that was touched in the open step but will not be read in it."""
        self._entries[key].step = self._released

    def evictable(self) -> list[Key]:
        """The unpinned keys, least recently used first."""
        return [key for key in self._entries if not self.pinned(key)]

    def _least_recent(self) -> Key:
        for key in self._entries:
            if not self.pinned(key):
                return key
        raise PlanError(
            f"all {self.slots} expert slots are in use by the current step",
            "Give the engine more memory.",
        )
