"""What a download is going to fetch: the hub's listing, held against the catalog where the repository is in it."""

from __future__ import annotations

from dataclasses import replace
from fnmatch import fnmatchcase

from edge0_tui.manager.catalog import CatalogEntry, CatalogFile
from edge0_tui.manager.errors import HubError
from edge0_tui.manager.hub import RemoteFile, RemoteRepo
from edge0_tui.manager.record import FileRecord, Record


def as_published(entry: CatalogEntry, repo: RemoteRepo) -> RemoteRepo:
    """The entry's files as the hub lists them. Raises `HubError` if one is missing or is not the published one."""
    chosen = [file for item in entry.files if (file := _one(entry, item, repo)) is not None]
    return replace(repo, files=tuple(chosen))


def new_record(repo: RemoteRepo, revision: str, entry: CatalogEntry | None, old: Record | None) -> Record:
    """The record to begin with. What `old` says is verified stays so where the file is to be the same."""
    before = {(file.name, file.bytes, file.sha256, file.git_sha1): file for file in (old.files if old else ())}
    files = [
        before.get((file.name, file.bytes, file.sha256, file.git_sha1))
        or FileRecord(file.name, file.bytes, file.sha256, file.git_sha1)
        for file in repo.files
    ]
    return Record(repo.repo, repo.commit, revision, tuple(files), entry.name if entry else "")


def _one(entry: CatalogEntry, item: CatalogFile, repo: RemoteRepo) -> RemoteFile | None:
    found = [file for file in repo.files if fnmatchcase(file.name, item.name)]
    if not found and item.name in entry.optional:
        return None
    if len(found) != 1:
        how = "no" if not found else "more than one"
        raise HubError(f"The hub lists {how} {item.name} in {repo.repo}@{repo.commit[:8]}, which was published so.")
    file = found[0]
    if item.bytes not in (None, file.bytes):
        raise HubError(f"{file.name} has {file.bytes:,} bytes on the hub, but {item.bytes:,} were published.")
    if item.sha256 and file.sha256 not in ("", item.sha256):
        raise HubError(f"{file.name} has another hash on the hub than the one published with this application.")
    # A file outside LFS has only a sha1 there; the published sha256 is the better one.
    return replace(file, sha256=item.sha256, git_sha1="") if item.sha256 else file
