"""What is known of a directory without hashing it again: its record, and the last verdict."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from edge0_tui import units
from edge0_tui.manager.present import present_bytes
from edge0_tui.manager.record import Record, read_record
from edge0_tui.manager.verdict import last_verdict
from edge0_tui.paths import Paths


@dataclass(frozen=True)
class Standing:
    """`note` says why in a few words. Verified is only what has a record that says so of every file."""

    status: Literal["verified", "found", "unfinished", "damaged"]
    note: str
    repo: str = ""
    revision: str = ""


def standing(path: Path, paths: Paths) -> Standing:
    """Looks at names, sizes and times only."""
    record = read_record(path)
    verdict = last_verdict(path, paths)
    if record is not None and record.complete(path):
        when = f"verified {verdict.at[:10]}" if verdict and verdict.ok else "verified when it was fetched"
        return Standing("verified", when, record.repo, record.commit)
    if verdict is not None and not verdict.ok and verdict.still_holds():
        repo, commit = (record.repo, record.commit) if record else ("", "")
        return Standing("damaged", verdict.message, repo, commit)
    if record is not None:
        return Standing("unfinished", _missing(record, path), record.repo, record.commit)
    if verdict is None:
        return Standing("found", "not verified yet")
    if not verdict.still_holds():
        return Standing("found", f"changed since it was verified {verdict.at[:10]}")
    return Standing("found", f"verified {verdict.at[:10]}")


def _missing(record: Record, path: Path) -> str:
    have, total = present_bytes(record, path), record.bytes
    if have < total:
        return f"{units.size(have)} of {units.size(total)}"
    return "not verified to the end"
