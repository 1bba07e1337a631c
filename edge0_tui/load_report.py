"""What is said once after a load or a switch that a person asked for. Pure."""

from __future__ import annotations

from edge0_tui import units
from edge0_tui.notices import Notice
from engine.protocol import ModelInfo


def load_report(info: ModelInfo, before: ModelInfo | None) -> Notice:
    """What is on now, how much of an adapter took effect, and the seconds it took against a full load's."""
    switched = before is not None and (before.path, before.name) == (info.path, info.name)
    took = f"in {units.seconds(info.load_seconds)}"
    if switched and info.base_seconds > info.load_seconds:
        took += f" (a full load took {units.seconds(info.base_seconds)})"
    if before is not None and switched and before.adapter == info.adapter and before.routing != info.routing:
        return Notice(f"Routing is {info.routing} now, {took}.")
    parts = [] if switched else [f"{info.name} is loaded"]
    report = info.adapter_report
    if info.adapter == "none":
        parts.append("no adapter")
    elif report is None:
        parts.append(f"adapter {_short(info.adapter)}")
    else:
        counts = f"{report.applied:,} modules applied, {report.not_found:,} not found, {report.skipped:,} skipped"
        parts.append(f"adapter {_short(info.adapter)}: {counts}")
    text = "; ".join(parts)
    return Notice(f"{text[0].upper()}{text[1:]}, {took}.", tone="info")


def _short(name: str) -> str:
    return name.rpartition("/")[2]
