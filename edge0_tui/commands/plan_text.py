"""An outlook for people. Pure."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from datetime import datetime

from edge0_tui import units
from edge0_tui.console import table
from engine.outlook.recommend import Candidate, Recommendation
from engine.outlook.types import DiskSpeed, Machine, Outlook, Swapping

UNKNOWN = "unknown"
WIDTH = 100


def machine_text(machine: Machine) -> str:
    """A line for each fact; what cannot be read is called unknown."""
    memory, volume = machine.memory, machine.volume
    group = [("control group", f"{units.size(memory.limit)} at most")] if memory.limit is not None else []
    free = UNKNOWN if volume.free is None else units.size(volume.free)
    cores = UNKNOWN if machine.cores is None else f"{machine.cores} cores"
    rows = [
        ("processor", f"{machine.chip or UNKNOWN}, {cores}"),
        ("computes on", machine.device or UNKNOWN),
        ("memory", f"{units.size(memory.total)} in all, {units.size(memory.available)} available now"),
        *group,
        ("swap", _swap(memory.swap_used, machine.swapping)),
        *([("working set", f"{units.size(machine.working_set)} at most")] if machine.working_set else []),
        ("volume", f"{volume.path}: {free} free, {volume.file_system or UNKNOWN}"),
        ("disk", _disk(machine.disk)),
    ]
    return "machine\n" + table([(f"  {name}", text) for name, text in rows])


def outlook_text(out: Outlook) -> str:
    """Items, speed with its reasons, verdict."""
    rows: list[tuple[str, ...]] = [(f"  {i.name}", units.size(i.bytes), i.note) for i in out.items if i.bytes]
    rows.append(("  in all", units.size(sum(item.bytes for item in out.items)), f"of {units.size(out.budget)}"))
    rows.append(("  left", units.size(out.left), "for the system's page cache"))
    kv = ", ".join(f"{units.size(nbytes)} at {tokens:,} tokens" for tokens, nbytes in out.kv)
    memory = f"memory of {out.facts.name} with {out.context:,} tokens of context\n{table(rows)}  KV cache: {kv}\n"
    verdict = _wrapped(f"{out.sentence} {out.hint}".strip(), "")
    return "\n".join(part for part in (memory, _speed_text(out), verdict) if part)


def overview_text(found: Sequence[Candidate], best: Recommendation) -> str:
    """A line for each tier and which to take."""
    rows: list[tuple[str, ...]] = [("MODEL", "VERDICT", "MEMORY", "TOKENS A SECOND", "LEAST MEMORY")]
    for candidate in found:
        out = candidate.outlook
        speed = _pace(out) if out.speed else UNKNOWN
        verdict = f"{out.verdict}, slow" if out.pace == "slow" and out.possible else out.verdict
        rows.append((candidate.id, verdict, units.size(out.budget), speed, units.size(out.least)))
    unknown = any(candidate.outlook.speed is None and candidate.outlook.possible for candidate in found)
    hint = "Add --measure to learn the speeds that are unknown.\n" if unknown else ""
    return f"{table(rows)}\n{_wrapped(f'Recommended: {best.reason}', '')}{hint}"


def _speed_text(out: Outlook) -> str:
    if out.speed is None:
        title = "expected speed: unknown; add --measure" if out.possible else "notes"
        notes = "".join(_wrapped(reason, "  ") for reason in out.reasons)
        return f"{title}\n{notes}" if notes else ""
    first = out.speed.first_token
    start = f"{units.seconds(first.low)} to {units.seconds(first.high)}"
    lines = [f"expected: {_pace(out)} tokens a second, {out.speed.routing} routing\n"]
    lines += [_wrapped(reason, "  ") for reason in out.reasons]
    lines.append(_wrapped(f"The first token of a prompt of {out.speed.exchange.prompt} comes after {start}.", "  "))
    return "".join(lines)


def _pace(out: Outlook) -> str:
    from engine.outlook.words import figure

    assert out.speed is not None
    decode = out.speed.decode
    return f"{figure(decode.likely)} ({figure(decode.low)} to {figure(decode.high)})"


def _swap(used: int | None, trend: Swapping | None) -> str:
    known = UNKNOWN if used is None else f"{units.size(used)} in use"
    if trend is None:
        return f"{known}, trend unknown"
    if trend.busy:
        moved = max(trend.out_of_memory or 0.0, trend.growth)
        return f"{known}, growing: {units.rate(moved)} leave memory now"
    return f"{known}, not growing"


def _disk(disk: DiskSpeed | None) -> str:
    if disk is None:
        return "not measured"
    when = datetime.fromtimestamp(disk.measured).strftime("%Y-%m-%d %H:%M")
    rates = ", ".join(f"{depth}: {units.rate(rate)}" for depth, rate in disk.rates)
    return f"random records by reads in flight: {rates} ({when})"


def _wrapped(text: str, indent: str) -> str:
    rest = indent + ("  " if indent else "")
    return textwrap.fill(text, WIDTH, initial_indent=indent, subsequent_indent=rest) + "\n"
