"""Deleted chats: moved aside whole, one folder each, until they are restored or have been there for a month.

transcripts/trash/20261130T091244.101Z-5f0c9a/2026-11-30-what-is-the-peak-5f0c9a.md   and its sidecar
"""

from __future__ import annotations

import contextlib
import re
import secrets
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from edge0_tui.chat import files, sidecar
from edge0_tui.chat.errors import StoreError
from edge0_tui.chat.listing import catalogue
from edge0_tui.chat.summary import Summary
from edge0_tui.chat.turn import now

KEPT_DAYS = 30
_MOMENT = "%Y%m%dT%H%M%S.%fZ"
_NAME = re.compile(r"(\d{8}T\d{6}\.\d{6}Z)-[0-9a-f]{6}")


@dataclass(frozen=True)
class Deleted:
    """A chat in the trash. `key` names it there, `purged` is when it goes for good."""

    key: str
    summary: Summary
    deleted: datetime

    @property
    def purged(self) -> datetime:
        return self.deleted + timedelta(days=KEPT_DAYS)


class Trash:
    """The folder `trash` inside the directory of transcripts. All methods raise `StoreError`."""

    def __init__(self, directory: Path) -> None:
        self.directory, self.folder = directory, directory / "trash"

    def put(self, path: Path) -> str:
        """Move a chat's files here, damaged ones too; answers with the key that brings it back."""
        key = f"{now().strftime(_MOMENT)}-{secrets.token_hex(3)}"
        with files.lock(self.directory):
            if not (path.exists() or sidecar.path_of(path).exists()):
                raise StoreError.because(path, "the file is gone")
            try:
                (self.folder / key).mkdir(parents=True)
                # The Markdown first: a sidecar left alone by a crash is taken for what is left of a deleted chat.
                for file in (path, sidecar.path_of(path)):
                    with contextlib.suppress(FileNotFoundError):
                        file.rename(self.folder / key / file.name)
            except OSError as error:
                raise StoreError.at(path, error) from error
        return key

    def take_back(self, key: str) -> Path:
        """Move the files back to where they were, or beside what has taken their name since; never over it."""
        path = next((entry.summary.path for entry in self.list() if entry.key == key), None)
        if path is None:
            raise StoreError.because(self.folder, f"there is no deleted chat {key}")
        with files.lock(self.directory):
            stem, number = path.stem, 2
            while any((self.directory / f"{stem}{suffix}").exists() for suffix in (".md", ".json")):
                stem, number = f"{path.stem}-{number}", number + 1
            try:
                for file in (sidecar.path_of(path), path):
                    with contextlib.suppress(FileNotFoundError):
                        file.rename(self.directory / f"{stem}{file.suffix}")
                path.parent.rmdir()
            except OSError as error:
                raise StoreError.at(path, error) from error
        return self.directory / f"{stem}.md"

    def list(self) -> Sequence[Deleted]:
        """What can be restored, deleted last first."""
        found = [
            Deleted(folder.name, summary, moment)
            for folder, moment in self._folders()
            for summary in catalogue(folder)[:1]
        ]
        return sorted(found, key=lambda entry: entry.deleted, reverse=True)

    def purge(self, moment: datetime | None = None) -> int:
        """Remove for good what was deleted more than `KEPT_DAYS` days ago; answers with how many chats."""
        oldest = (moment or now()) - timedelta(days=KEPT_DAYS)
        old = [folder for folder, deleted in self._folders() if deleted < oldest]
        for folder in old:
            shutil.rmtree(folder, ignore_errors=True)
        return len(old)

    def _folders(self) -> Sequence[tuple[Path, datetime]]:
        """Only those that `put` made: whatever else somebody keeps there is never touched."""
        try:
            entries = [entry for entry in self.folder.iterdir() if entry.is_dir() and not entry.is_symlink()]
        except FileNotFoundError:
            return []
        except OSError as error:
            raise StoreError.at(self.folder, error) from error
        found = [(entry, match) for entry in entries if (match := _NAME.fullmatch(entry.name))]
        return [(entry, datetime.strptime(match[1], _MOMENT).replace(tzinfo=UTC)) for entry, match in found]
