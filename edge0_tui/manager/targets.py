"""From what a person names to what is fetched, and the folder it gets."""

from __future__ import annotations

from dataclasses import dataclass

from edge0_tui.manager import catalog
from edge0_tui.manager.repo_id import RepoId, parse_repo
from engine.errors import UsageError


@dataclass(frozen=True)
class Target:
    """A repository and the name of its folder."""

    id: RepoId
    folder: str


def target(what: str) -> Target:
    """`8b`, `35b` or `owner/name[@revision]`; a repository of the catalog without revision is the pinned one.

    Raises `UsageError`.
    """
    text = what.strip()
    entry = catalog.entry(text)
    if entry is None and "/" in text:
        id = parse_repo(text)
        entry = catalog.pinned(id) if id.revision else catalog.entry(id.repo)
        if entry is None:
            return Target(id, id.folder)
    if entry is None:
        shown = "".join(char if char.isprintable() else "?" for char in text[:100])
        raise UsageError(f"There is no model called {shown!r} to fetch.", "Name 8b, 35b or owner/name.")
    return Target(entry.id, entry.name)
