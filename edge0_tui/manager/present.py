"""What of a recorded model is on the disk."""

from __future__ import annotations

import shlex
from pathlib import Path

from edge0_tui.manager.elsewhere import elsewhere
from edge0_tui.manager.part import SUFFIX
from edge0_tui.manager.record import Record, read_record
from edge0_tui.paths import Paths


def present_bytes(record: Record, folder: Path) -> int:
    """Bytes of its files that are there, whole or in parts; never more than the files are going to have."""
    total = 0
    for file in record.files:
        for name in (file.name, file.name + SUFFIX):
            path = folder / name
            if path.is_file():
                total += min(path.stat().st_size, file.bytes)
                break
    return total


def unfinished(paths: Paths) -> list[tuple[Path, Record]]:
    """Folders whose download was begun and is not over: the models folder's by name, then those elsewhere."""
    found = [*_recorded(paths.models), *elsewhere(paths)]
    return [(folder, record) for folder, record in found if not record.complete(folder)]


def named(record: Record) -> str:
    """What `Downloads.start` takes to go on with it."""
    if record.tier:
        return record.tier
    return f"{record.repo}@{record.revision}" if record.revision else record.repo


def into(folder: Path, paths: Paths) -> str:
    """The folder that has the model's folder, empty where that is the models folder."""
    return "" if folder.parent == paths.models.absolute() else str(folder.parent)


def command_to_go_on(folder: Path, paths: Paths, otherwise: str) -> str:
    """What a person types to go on with the download in `folder`; `otherwise` is its name where no record tells."""
    record, place = read_record(folder), into(folder.absolute(), paths)
    what = named(record) if record else otherwise
    return f"edge0-tui models get {shlex.quote(what)}" + (f" --into {shlex.quote(place)}" if place else "")


def _recorded(parent: Path) -> list[tuple[Path, Record]]:
    try:
        folders = sorted(path for path in parent.iterdir() if path.is_dir() and not path.name.startswith("."))
    except OSError:
        return []
    found = ((folder, read_record(folder)) for folder in folders)
    return [(folder, record) for folder, record in found if record]
