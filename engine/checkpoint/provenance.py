"""Where a directory came from, as far as its surroundings reveal it: hub repository and revision."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from engine.checkpoint.regular import read_whole
from engine.errors import CheckpointError

_COMMIT = re.compile(r"^[0-9a-f]{40}$")


@dataclass(frozen=True)
class Provenance:
    """`name` for people (repository, else directory name); `revision` a commit, "" when unknown."""

    name: str
    revision: str


def provenance(directory: Path, repo: str = "") -> Provenance:
    """From the hub cache layout models--ORG--NAME/snapshots/COMMIT, or the sidecars of a hub download to a folder.

    `repo` (ORG/NAME) overrides the name. Never raises: an unreadable sidecar only leaves the revision unknown.
    """
    path = directory.absolute()
    cache = path.parent.parent.name
    if path.parent.name == "snapshots" and cache.startswith("models--"):
        name = cache.removeprefix("models--").replace("--", "/", 1)
        return Provenance(repo or name, path.name if _COMMIT.match(path.name) else "")
    sidecar = path / ".cache" / "huggingface" / "download" / "config.json.metadata"
    return Provenance(repo or path.resolve().name, _first_commit(sidecar))


def _first_commit(sidecar: Path) -> str:
    if not sidecar.exists():
        return ""
    try:
        first = read_whole(sidecar, 4096).decode("ascii", "replace").partition("\n")[0].strip()
    except CheckpointError:
        return ""
    return first if _COMMIT.match(first) else ""
