"""Directories that look like checkpoints: below a folder, and in the hub's cache. Nothing is opened here."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from edge0_tui.manager.record import NAME

_MOST = 2000
"""Directories looked at below one folder: pointing to a whole disk must not take forever."""


def models_in(folder: Path) -> list[Path]:
    """Every folder directly in the models folder that is, was or is going to be a model, by name."""
    return [path for path in _folders(folder) if any((path / name).is_file() for name in ("config.json", NAME))]


def checkpoints_below(folder: Path, depth: int = 2) -> list[Path]:
    """`folder` itself if it holds a checkpoint, else those at most `depth` levels below, by name.

    A folder that is not there, as on a disk that is not connected, holds none.
    """
    if _looks_like_one(folder):
        return [folder]
    found: list[Path] = []
    looked = 0
    level = [folder]
    for _ in range(depth):
        following: list[Path] = []
        for place in level:
            for path in _folders(place):
                looked += 1
                if looked > _MOST:
                    return sorted(found)
                (found if _looks_like_one(path) else following).append(path)
        level = following
    return sorted(found)


def cached_snapshots() -> list[tuple[str, Path]]:
    """Repository and directory of each snapshot in the hub's cache that looks like a checkpoint."""
    found = []
    for repo in _folders(cache_folder()):
        if repo.name.startswith("models--"):
            name = repo.name.removeprefix("models--").replace("--", "/", 1)
            found += [(name, path) for path in _folders(repo / "snapshots") if _looks_like_one(path)]
    return sorted(found)


def cache_folder() -> Path:
    """Where the hub's own tools keep what they fetch, as they find it."""
    direct = os.environ.get("HF_HUB_CACHE") or os.environ.get("HUGGINGFACE_HUB_CACHE")
    if direct:
        return Path(os.path.expandvars(direct)).expanduser()
    usual = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "huggingface"
    return Path(os.path.expandvars(os.environ.get("HF_HOME") or str(usual))).expanduser() / "hub"


def _looks_like_one(path: Path) -> bool:
    try:
        if not (path / "config.json").is_file():
            return False
        return any(file.name.endswith(".safetensors") for file in path.iterdir())
    except OSError:
        return False


def _folders(path: Path) -> Iterator[Path]:
    try:
        entries = sorted(os.scandir(path), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        try:
            if entry.is_dir() and not entry.name.startswith("."):
                yield Path(entry.path)
        except OSError:
            continue
