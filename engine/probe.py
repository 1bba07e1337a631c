"""What this machine has, as far as it can be read. Unreadable facts are None, never assumed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import psutil

CGROUP = Path("/sys/fs/cgroup")
UNLIMITED = 1 << 60


@dataclass(frozen=True)
class Memory:
    """Bytes. `limit` is the memory control group's, when there is one below the machine's RAM."""

    total: int
    available: int
    swap_used: int | None
    limit: int | None

    @property
    def usable(self) -> int:
        """What a process could still take now without pushing others out."""
        return self.available if self.limit is None else min(self.available, self.limit)


def _read_int(path: Path) -> int | None:
    try:
        text = path.read_text().strip()
    except OSError:
        return None
    return int(text) if text.isdigit() else None


def group_folders(listing: str) -> list[Path]:
    """The memory control group's folders from the text of /proc/self/cgroup, innermost first (v1 and v2)."""
    folders: list[Path] = []
    for line in listing.splitlines():
        _, controllers, name = line.split(":", 2)
        if controllers == "memory":
            base = CGROUP / "memory"
        elif controllers == "":
            base = CGROUP
        else:
            continue
        path = base / name.lstrip("/")
        folders += [path, *(parent for parent in path.parents if parent == base or base in parent.parents)]
    return folders


def group_room() -> tuple[int | None, int | None]:
    """(limit, room left) of the tightest memory control group this process is in; None where there is none.

    Pages of files the group holds can be given back, so they count as room.
    """
    try:
        listing = Path("/proc/self/cgroup").read_text()
    except OSError:
        return None, None
    limit, room = None, None
    for folder in group_folders(listing):
        found = _read_int(folder / "memory.max") or _read_int(folder / "memory.limit_in_bytes")
        if found is None or found >= UNLIMITED:
            continue
        used = _read_int(folder / "memory.current") or _read_int(folder / "memory.usage_in_bytes") or 0
        left = found - used + _file_pages(folder)
        if limit is None or found < limit:
            limit = found
        room = left if room is None else min(room, left)
    return limit, room


def _file_pages(folder: Path) -> int:
    try:
        lines = (folder / "memory.stat").read_text().splitlines()
    except OSError:
        return 0
    stats = dict(line.split(" ", 1) for line in lines if " " in line)
    keys = ("inactive_file", "active_file")
    return sum(int(stats.get(f"total_{key}", stats.get(key, "0"))) for key in keys)


def memory() -> Memory:
    """RAM, what is available of it now, swap in use, and the control group's limit."""
    ram = psutil.virtual_memory()
    try:
        swap: int | None = int(psutil.swap_memory().used)
    except (OSError, RuntimeError):
        swap = None
    limit, room = group_room()
    if limit is not None and limit >= ram.total:
        limit, room = None, None
    available = int(ram.available) if room is None else min(int(ram.available), room)
    return Memory(int(ram.total), available, swap, limit)
