"""Errors of the disk in words."""

from __future__ import annotations

import errno
from pathlib import Path

from edge0_tui import units
from edge0_tui.manager.errors import SpaceError
from engine.errors import CheckpointError, EngineError

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
KEPT = "What has arrived is kept: make room, then start it again."


def disk_error(folder: Path, error: OSError) -> EngineError:
    """What a failed write or read means."""
    if error.errno == errno.ENOSPC:
        return SpaceError(f"The disk of {folder} is full.", KEPT)
    if error.errno in _FULL:
        return SpaceError(f"The system does not let files in {folder} grow further ({error.strerror}).", KEPT)
    return CheckpointError(f"{folder}: {error.strerror or error}.", "Check the disk and its permissions.")


def no_room(folder: Path, needed: int, free: int) -> SpaceError:
    """Refused before anything is fetched."""
    return SpaceError(
        f"{folder} has {units.size(free)} free, and {units.size(needed)} are needed.",
        "Make room, or choose another folder.",
    )
