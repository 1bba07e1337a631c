"""What can be fetched: the published checkpoints, and other repositories whose download was begun."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from edge0_tui.manager.catalog import CATALOG
from edge0_tui.manager.present import into, named, present_bytes, unfinished
from edge0_tui.manager.record import Record, read_record
from edge0_tui.paths import Paths


@dataclass(frozen=True)
class Available:
    """`name` is what `Downloads.start` takes, and `into`, which is empty for the models folder.

    `have_bytes` are on the disk, of `total_bytes` as far as known.
    """

    name: str
    title: str
    repo: str
    revision: str
    path: str
    total_bytes: int
    have_bytes: int
    state: Literal["absent", "unfinished", "installed"]
    into: str = ""


def available(paths: Paths) -> list[Available]:
    """The catalog first, in its order, then what was begun. Looks at disks; blocks.

    A tier that was begun elsewhere and is not in the models folder is listed where it was begun, and only there.
    """
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
    begun = [
        Available(
            named(record), _title(record), record.repo, record.commit, str(folder), record.bytes,
            present_bytes(record, folder), "unfinished", into(folder, paths),
        )
        for folder, record in unfinished(paths)
        if str(folder) not in known
    ]  # fmt: skip
    repos = {item.repo for item in begun}
    return [*(item for item in listed if item.state != "absent" or item.repo not in repos), *begun]


def _title(record: Record) -> str:
    return next((entry.title for entry in CATALOG if entry.name == record.tier), record.repo)
