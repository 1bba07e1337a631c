"""The slot table against a plain model of least-recently-used with pins."""

from __future__ import annotations

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from engine.errors import PlanError
from engine.experts.record import Key
from engine.experts.slot_table import SlotTable

KEYS = st.tuples(st.integers(0, 2), st.integers(0, 3))


class TableMachine(RuleBasedStateMachine):
    """`order` lists keys from least to most recent; `used` and `filling` are the two ways to be pinned."""

    @initialize(slots=st.integers(1, 6))
    def start(self, slots: int) -> None:
        self.table = SlotTable(slots)
        self.order: list[Key] = []
        self.slot: dict[Key, int] = {}
        self.used: dict[Key, int] = {}
        self.filling: set[Key] = set()
        self.steps: list[int] = []

    def pinned(self, key: Key) -> bool:
        return key in self.used or key in self.filling

    def touch(self, key: Key) -> None:
        if key in self.order:
            self.order.remove(key)
        self.order.append(key)
        if self.steps:
            self.used[key] = self.steps[-1]
        else:
            self.used.pop(key, None)

    @rule()
    def begin(self) -> None:
        self.steps.append(self.table.begin_step())

    @precondition(lambda self: self.steps)
    @rule()
    def release_oldest(self) -> None:
        step = self.steps.pop(0)
        self.table.release(step)
        self.used = {key: at for key, at in self.used.items() if at > step}

    @rule(key=KEYS)
    def lookup(self, key: Key) -> None:
        assert self.table.lookup(key) == self.slot.get(key)
        if key in self.slot:
            self.touch(key)

    @rule(key=KEYS)
    def admit(self, key: Key) -> None:
        if key in self.slot:
            with pytest.raises(ValueError, match="already"):
                self.table.admit(key)
            return
        victim = next((k for k in self.order if not self.pinned(k)), None)
        if len(self.order) < self.table.slots:
            victim = None
        elif victim is None:
            with pytest.raises(PlanError, match=f"all {self.table.slots} expert slots"):
                self.table.admit(key)
            return
        slot, evicted = self.table.admit(key)
        assert evicted == victim
        if victim is not None:
            assert slot == self.slot.pop(victim)
            self.order.remove(victim)
        assert slot not in self.slot.values()
        self.slot[key] = slot
        self.filling.add(key)
        self.touch(key)

    @rule(key=KEYS)
    def filled(self, key: Key) -> None:
        if key in self.filling:
            self.table.filled(key)
            self.filling.discard(key)

    @rule(key=KEYS)
    def discard(self, key: Key) -> None:
        if key in self.slot:
            self.table.discard(key)
            self.order.remove(key)
            del self.slot[key]
            self.used.pop(key, None)
            self.filling.discard(key)

    @rule(key=KEYS)
    def unpin(self, key: Key) -> None:
        if key in self.slot:
            self.table.unpin(key)
            self.used.pop(key, None)

    @invariant()
    def agrees(self) -> None:
        assert list(self.table) == self.order
        assert {key: self.table.peek(key) for key in self.table} == self.slot
        assert len(set(self.slot.values())) == len(self.slot) == len(self.table)
        assert all(0 <= slot < self.table.slots for slot in self.slot.values())
        assert self.table.free == self.table.slots - len(self.order)
        assert [key for key in self.order if not self.pinned(key)] == self.table.evictable()


TestTable = TableMachine.TestCase
TestTable.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)


def test_a_chosen_victim_gives_its_slot() -> None:
    table = SlotTable(2)
    for key in ((0, 0), (0, 1)):
        table.admit(key)
        table.filled(key)
    assert table.admit((0, 2), victim=(0, 1)) == (1, (0, 1))


def test_a_pinned_victim_is_refused_and_nothing_changes() -> None:
    table = SlotTable(1)
    table.admit((0, 0))
    with pytest.raises(ValueError, match="pinned"):
        table.admit((0, 1), victim=(0, 0))
    assert list(table) == [(0, 0)]


def test_no_slots_are_refused() -> None:
    with pytest.raises(PlanError, match="at least one slot"):
        SlotTable(0)
