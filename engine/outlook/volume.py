"""The volume a directory lies on: free space and kind of file system."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import psutil

from engine.outlook.types import Volume


class Mount(NamedTuple):
    point: str
    device: str
    kind: str


def volume_of(path: Path) -> Volume:
    """Facts of the volume of `path`, which need not exist yet: then those of its nearest folder that does."""
    folder = existing(path)
    free: int | None = None
    total: int | None = None
    with contextlib.suppress(OSError):
        total, _, free = shutil.disk_usage(folder)
    found = mount_of(folder, mounts())
    return Volume(folder, free, total, found.kind if found and found.kind else None)


def existing(path: Path) -> Path:
    """`path`, or the nearest folder above it that exists."""
    full = path.expanduser().absolute()
    return next((folder for folder in (full, *full.parents) if folder.is_dir()), Path(full.anchor))


def volume_id(path: Path) -> str:
    """What measurements of a volume are filed under: where it is mounted, and from which device."""
    found = mount_of(existing(path), mounts())
    return f"{found.point} {found.device} {found.kind}" if found else str(existing(path))


def mounts() -> list[Mount]:
    """Everything mounted, as far as the system tells."""
    try:
        return [Mount(p.mountpoint, p.device, p.fstype) for p in psutil.disk_partitions(all=True)]
    except (OSError, RuntimeError):
        return []


def mount_of(path: Path, known: Sequence[Mount]) -> Mount | None:
    """The mount that `path` belongs to: the innermost, and of several in one place the last."""
    try:
        real = path.resolve()
    except OSError:
        return None
    around = [mount for mount in known if real.is_relative_to(mount.point)]
    return max(enumerate(around), key=lambda entry: (len(entry[1].point), entry[0]))[1] if around else None
