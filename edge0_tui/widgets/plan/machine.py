"""What this machine is and has now, and how fast its disk gives experts."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from edge0_tui import units
from edge0_tui.widgets.plan.rows import Rows, barred, pair, section

if TYPE_CHECKING:
    from engine.outlook.types import DiskSpeed, Machine, Swapping

UNKNOWN = "unknown"


def machine_rows(machine: Machine, width: int) -> Rows:
    """A row for each fact; what cannot be read is called unknown."""
    memory, volume = machine.memory, machine.volume
    cores = UNKNOWN if machine.cores is None else f"{machine.cores} cores"
    rows = section("this machine", width)
    rows += pair("chip", f"{machine.chip or UNKNOWN}, {cores}", width)
    rows += pair("memory", f"{units.size(memory.available)} available now of {units.size(memory.total)}", width)
    if memory.limit is not None:
        rows += pair("control group", f"{units.size(memory.limit)} at most", width)
    rows += pair("swap", swap_text(memory.swap_used, machine.swapping), width, _tone(machine.swapping))
    if machine.device not in ("", "cpu"):
        limit = UNKNOWN if machine.working_set is None else f"{units.size(machine.working_set)} at most"
        rows += pair("accelerator", limit, width)
    free = UNKNOWN if volume.free is None else units.size(volume.free)
    rows += pair("disk", f"{free} free, {volume.file_system or UNKNOWN}, {volume.path}", width)
    return rows + disk_rows(machine.disk, width)


def disk_rows(disk: DiskSpeed | None, width: int) -> Rows:
    """Random reads of whole experts, by reads in flight."""
    if disk is None:
        return pair("disk speed", "not measured on this volume", width, "$warning")
    when = datetime.fromtimestamp(disk.measured).strftime("%Y-%m-%d %H:%M")
    rows = pair("disk speed", f"experts of {units.size(disk.record)} at random places, measured {when}", width)
    best = max(rate for _, rate in disk.rates)
    for depth, rate in disk.rates:
        rows.append(barred(f"{depth:>2} at a time", rate / best, units.rate(rate), width, style="$secondary"))
    return rows


def swap_text(used: int | None, trend: Swapping | None) -> str:
    """How much, and whether it grows."""
    known = UNKNOWN if used is None else f"{units.size(used)} in use"
    if trend is None:
        return f"{known}, trend unknown"
    if trend.busy:
        return f"{known}, growing by {units.rate(max(trend.out_of_memory or 0.0, trend.growth))}"
    return f"{known}, not growing"


def _tone(trend: Swapping | None) -> str:
    return "$warning" if trend is not None and trend.busy else "$foreground"
