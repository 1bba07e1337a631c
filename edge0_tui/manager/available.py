"""What can be fetched: the published checkpoints, and other repositories whose download was begun."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from edge0_tui.manager.catalog import CATALOG
from edge0_tui.manager.present import present_bytes, unfinished
from edge0_tui.manager.record import read_record
from edge0_tui.paths import Paths


@dataclass(frozen=True)
class Available:
    """`name` is what `Downloads.start` takes. `have_bytes` are on the disk, of `total_bytes` as far as known."""

    name: str
    title: str
    repo: str
    revision: str
    path: str
    total_bytes: int
    have_bytes: int
    state: Literal["absent", "unfinished", "installed"]


def available(paths: Paths) -> list[Available]:
    """The catalog first, in its order. Looks at the models folder; blocks."""
    listed = []
    for entry in CATALOG:
        folder = paths.models / entry.name
        record = read_record(folder)
        have, total = (present_bytes(record, folder), record.bytes) if record else (0, entry.bytes)
        complete = record is not None and record.complete(folder)
        state: Literal["absent", "unfinished", "installed"] = (
            "installed" if complete else "unfinished" if record else "absent"
        )
        listed.append(
            Available(entry.name, entry.title, entry.repo, entry.revision, str(folder), total, have, state)
        )
    known = {item.path for item in listed}
    for folder, record in unfinished(paths.models):
        if str(folder) not in known:
            name = f"{record.repo}@{record.revision}" if record.revision else record.repo
            have = present_bytes(record, folder)
            listed.append(
                Available(
                    name, record.repo, record.repo, record.commit, str(folder), record.bytes, have, "unfinished"
                )
            )
    return listed
