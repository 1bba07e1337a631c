"""Expected against achieved: what replies on this machine teach the next estimate. Kept in `learned.json`."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from engine.outlook.store import machine_key, positive, read_table, write_table
from engine.outlook.types import Learned, Outlook

FILE = "learned.json"
BOUND = 4.0
"""An estimate is never corrected by more than this factor, beyond which something else is wrong."""
LEAST_TOKENS = 16
"""Shorter replies say little about the speed."""
LEAST_WEIGHT = 0.25
"""Of the newest reply, so that what has changed is noticed within a few."""
BUDGET_STEP = 256 << 20
MAX_ENTRIES = 200


def learned(folder: Path, key: str) -> Learned | None:
    """What is known for `key` on this machine."""
    return _parsed(_table(folder).get(key))


def learning_key(outlook: Outlook) -> str:
    """Machine apart, what a correction holds for: the model, its routing, the budget, the volume."""
    routing = outlook.speed.routing if outlook.speed else ""
    volume = outlook.machine.volume.path.as_posix()
    return f"{outlook.facts.shape} {routing} {outlook.budget // BUDGET_STEP} {volume}"


def learn(folder: Path, outlook: Outlook, achieved: float, tokens: int) -> Learned | None:
    """Take note of a reply of `tokens` tokens that came at `achieved` a second where `outlook` was expected.

    Returns what is known now; unchanged after a reply that is too short or where nothing had been expected.
    """
    key = learning_key(outlook)
    before = learned(folder, key)
    if outlook.speed is None or tokens < LEAST_TOKENS or not achieved > 0:
        return before
    corrected = outlook.learned.factor if outlook.learned else 1.0
    after = combined(before, outlook.speed.decode.likely / corrected, achieved)
    everything = read_table(folder / FILE)
    table = _table(folder)
    table.pop(key, None)
    table[key] = {
        "factor": after.factor,
        "replies": after.replies,
        "expected": after.expected,
        "achieved": after.achieved,
    }
    everything[machine_key()] = dict(list(table.items())[-MAX_ENTRIES:])
    write_table(folder / FILE, everything)
    return after


def combined(before: Learned | None, expected: float, achieved: float) -> Learned:
    """A running mean of the ratio's logarithm; `expected` is what would be expected without any correction."""
    ratio = min(BOUND, max(1 / BOUND, achieved / expected))
    if before is None:
        return Learned(ratio, 1, expected, achieved)
    weight = max(LEAST_WEIGHT, 1 / (before.replies + 1))
    factor = math.exp((1 - weight) * math.log(before.factor) + weight * math.log(ratio))
    return Learned(min(BOUND, max(1 / BOUND, factor)), before.replies + 1, expected, achieved)


def _table(folder: Path) -> dict[str, Any]:
    found = read_table(folder / FILE).get(machine_key(), {})
    return dict(found) if isinstance(found, dict) else {}


def _parsed(value: object) -> Learned | None:
    if not isinstance(value, dict):
        return None
    try:
        factor = min(BOUND, max(1 / BOUND, positive(value["factor"])))
        return Learned(factor, int(value["replies"]), positive(value["expected"]), positive(value["achieved"]))
    except (KeyError, TypeError, ValueError):
        return None
