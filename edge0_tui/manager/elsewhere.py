"""Models fetched into folders of one's own (`models get --into DIR`), noted so that the next session finds them.

One small file for each, so that nobody has to wait for another's lock. A note says only where to look: what lies
there, the record beside the files says.
"""

from __future__ import annotations

import time
from hashlib import sha256
from pathlib import Path

from edge0_tui.manager.files import read_json, write_json
from edge0_tui.manager.record import Record, read_record
from edge0_tui.paths import Paths

_FOLDER = "fetched-elsewhere"
_MOST = 256
_KEPT_SECONDS = 7 * 86400.0
"""A note that leads nowhere is kept so long: its download may have only begun, its disk not be connected."""


def remember(folder: Path, paths: Paths) -> None:
    """Note the model's absolute `folder`, unless it is the models folder's. Raises `OSError`."""
    if folder.parent != paths.models.absolute():
        notes = paths.data / _FOLDER
        notes.mkdir(parents=True, exist_ok=True)
        write_json(notes / f"{sha256(str(folder).encode()).hexdigest()[:32]}.json", {"folder": str(folder)})


def elsewhere(paths: Paths) -> list[tuple[Path, Record]]:
    """Folders with a record outside the models folder, by name. Blocks."""
    found: dict[Path, Record] = {}
    for note in sorted((paths.data / _FOLDER).glob("*.json"))[:_MOST]:
        said = read_json(note).get("folder")
        folder = Path(said) if isinstance(said, str) and said.isprintable() else Path()
        record = read_record(folder) if folder.is_absolute() else None
        if record is not None and folder.parent != paths.models.absolute():
            found[folder] = record
        elif not folder.parent.is_dir() or folder.is_dir():
            continue
        else:
            _forget(note)
    return sorted(found.items())


def _forget(note: Path) -> None:
    """Where this cannot be deleted, it leads nowhere next time, too."""
    try:
        if time.time() - note.stat().st_mtime > _KEPT_SECONDS:
            note.unlink()
    except OSError:
        pass
