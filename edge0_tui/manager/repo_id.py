"""Repository ids as people type them, and the folder a repository gets."""

from __future__ import annotations

import re
from dataclasses import dataclass

from engine.errors import UsageError

_PART = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,95})")
_REVISION = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._/-]{0,199})")
_SITES = ("https://huggingface.co/", "https://hf.co/", "hf://")


@dataclass(frozen=True)
class RepoId:
    """`owner/name`, and a branch, tag or commit; an empty revision means the main branch."""

    repo: str
    revision: str = ""

    @property
    def folder(self) -> str:
        """The name of its folder: `owner--name`. Names of the hub never contain two hyphens in a row."""
        return self.repo.replace("/", "--")

    def __str__(self) -> str:
        return f"{self.repo}@{self.revision}" if self.revision else self.repo


def parse_repo(text: str) -> RepoId:
    """`owner/name[@revision]`, or the address of its page. Raises `UsageError`."""
    plain = text.strip()
    for site in _SITES:
        plain = plain.removeprefix(site)
    repo, _, revision = plain.rstrip("/").partition("@")
    if "/tree/" in repo:
        repo, _, revision = repo.partition("/tree/")
    parts = repo.split("/")
    good = len(parts) == 2 and all(
        _PART.fullmatch(part) and ".." not in part and "--" not in part for part in parts
    )
    if not good or (revision and (not _REVISION.fullmatch(revision) or ".." in revision)):
        shown = "".join(char if char.isprintable() else "?" for char in text[:100])
        raise UsageError(f"{shown!r} is not a repository.", "Write it as owner/name or owner/name@revision.")
    return RepoId(repo, revision)


def is_repo(text: str) -> bool:
    """Whether this reads as a repository id."""
    try:
        parse_repo(text)
    except UsageError:
        return False
    return True
