"""Where a directory came from, as far as its surroundings reveal it: hub repository and revision."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from engine.checkpoint.regular import read_whole
from engine.checkpoint.strict_json import read_object
from engine.errors import CheckpointError

RECORD = ".edge0-tui.json"
"""What the application leaves beside the files it fetches; its `repo` and `commit` are read here."""
_COMMIT = re.compile(r"^[0-9a-f]{40}$")
_REPO = re.compile(r"[\w.-]{1,96}/[\w.-]{1,96}", re.ASCII)


@dataclass(frozen=True)
class Provenance:
    """`name` for people (repository, else directory name); `revision` a commit, "" when unknown."""

    name: str
    revision: str


def provenance(directory: Path, repo: str = "") -> Provenance:
    """From the hub cache layout models--ORG--NAME/snapshots/COMMIT, the application's record, or the sidecars of a
    hub download to a folder.

    `repo` (ORG/NAME) overrides the name. Never raises: an unreadable sidecar only leaves the revision unknown.
    """
    path = directory.absolute()
    cache = path.parent.parent.name
    if path.parent.name == "snapshots" and cache.startswith("models--"):
        name = cache.removeprefix("models--").replace("--", "/", 1)
        return Provenance(repo or name, path.name if _COMMIT.match(path.name) else "")
    said, commit = _recorded(path / RECORD)
    if commit:
        return Provenance(repo or said, commit)
    sidecar = path / ".cache" / "huggingface" / "download" / "config.json.metadata"
    return Provenance(repo or path.resolve().name, _first_commit(sidecar))


def _recorded(record: Path) -> tuple[str, str]:
    """Repository and commit, both empty when there is no record with both."""
    if not record.exists():
        return "", ""
    try:
        body = read_object(record)
    except CheckpointError:
        return "", ""
    repo, commit = body.get("repo"), body.get("commit")
    good = isinstance(repo, str) and _REPO.fullmatch(repo) and isinstance(commit, str) and _COMMIT.match(commit)
    return (str(repo), str(commit)) if good else ("", "")


def _first_commit(sidecar: Path) -> str:
    if not sidecar.exists():
        return ""
    try:
        first = read_whole(sidecar, 4096).decode("ascii", "replace").partition("\n")[0].strip()
    except CheckpointError:
        return ""
    return first if _COMMIT.match(first) else ""
