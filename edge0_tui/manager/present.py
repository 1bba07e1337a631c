"""What of a recorded model is on the disk."""

from __future__ import annotations

from pathlib import Path

from edge0_tui.manager.part import SUFFIX
from edge0_tui.manager.record import Record, read_record


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


def unfinished(parent: Path) -> list[tuple[Path, Record]]:
    """Folders below `parent` whose download was begun and is not over, by name."""
    try:
        folders = sorted(path for path in parent.iterdir() if path.is_dir() and not path.name.startswith("."))
    except OSError:
        return []
    found = ((folder, read_record(folder)) for folder in folders)
    return [(folder, record) for folder, record in found if record and not record.complete(folder)]
