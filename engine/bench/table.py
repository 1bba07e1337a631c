"""Results with their bars, as a table for people and as JSON for scripts."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field


@dataclass(frozen=True)
class Result:
    """One measurement against its bar.

    ours and peer are the two sides in `unit`; value is what the bar is about (a ratio, a size or a count).
    `figures` are what it was made from, for scripts.
    """

    name: str
    value: float
    bar: str
    reached: bool
    ours: float | None = None
    peer: float | None = None
    unit: str = ""
    note: str = ""
    figures: Mapping[str, float] = field(default_factory=dict)


def at_least(
    name: str, ours: float, peer: float, bar: float, unit: str, *, lower_is_better: bool = True, note: str = ""
) -> Result:
    """How many times better than the peer; both sides in `unit` (seconds and the like, or rates)."""
    ratio = peer / ours if lower_is_better else ours / peer
    return Result(name, ratio, f"≥ {bar:g} ×", ratio >= bar, ours, peer, unit, note)


def at_most(name: str, value: float, bar: float, unit: str = "", note: str = "") -> Result:
    """A figure with an upper bound."""
    return Result(name, value, f"≤ {bar:g} {unit}".rstrip(), value <= bar, unit=unit, note=note)


def exactly(name: str, value: float, bar: float, unit: str = "", note: str = "") -> Result:
    """A figure that follows from the format."""
    return Result(name, value, f"= {bar:g} {unit}".rstrip(), value == bar, unit=unit, note=note)


def as_text(results: Sequence[Result]) -> str:
    """A Markdown table."""
    rows = [("what", "measured", "bar", "ours", "peer", "note")]
    for r in results:
        ours, peer = ("" if side is None else f"{side:.4g} {r.unit}" for side in (r.ours, r.peer))
        value = f"{r.value:.2f} ×" if r.ours is not None else f"{r.value:.6g} {r.unit}".rstrip()
        rows.append((r.name, value, f"{r.bar} {'reached' if r.reached else 'NOT REACHED'}", ours, peer, r.note))
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([lines[0], "|" + "---|" * len(rows[0]), *lines[1:]])


def as_json(results: Sequence[Result]) -> str:
    return json.dumps([asdict(result) for result in results], indent=2)
