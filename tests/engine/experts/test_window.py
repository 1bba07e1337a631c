"""The promise: whoever asks for group n has evaluated group n - 2."""

from __future__ import annotations

from engine.experts.slot_table import SlotTable
from engine.experts.window import Window


def test_a_pass_is_unpinned_two_groups_after_its_last() -> None:
    table = SlotTable(4)
    window = Window(table)
    table_step = table.begin_step()
    table.admit((0, 0))
    table.filled((0, 0))
    window.ask()
    last = window.ask()
    window.end_pass(table_step)
    table.begin_step()
    window.ask()
    assert table.pinned((0, 0))
    assert window.ask() == last + 2
    assert window.evaluated == last
    assert not table.pinned((0, 0))


def test_finish_unpins_at_once() -> None:
    table = SlotTable(4)
    window = Window(table)
    step = table.begin_step()
    table.admit((0, 0))
    table.filled((0, 0))
    window.ask()
    window.end_pass(step)
    window.finish()
    assert not table.pinned((0, 0))
    assert window.evaluated == window.group == 1
