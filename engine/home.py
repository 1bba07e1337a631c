"""Paths that people write with a `~`."""

from __future__ import annotations

from pathlib import Path


def expanded(path: str | Path) -> Path:
    """`~` and `~name` as the home directory; as it stands where there is no such user, or no home."""
    path = Path(path)
    try:
        return path.expanduser()
    except RuntimeError:
        return path
