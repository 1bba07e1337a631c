"""The directory of transcripts: listing, reading, and saving without ever losing what somebody wrote.

A pair of files is ours to replace only while the sidecar knows the Markdown's digest. Edited by hand, damaged
or alien files stay as they are, and the conversation goes on in a new file. A pair that another instance has
changed meanwhile is merged.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from edge0_tui.chat import files, names, sidecar, transcript_file
from edge0_tui.chat.conversation import Conversation
from edge0_tui.chat.errors import FormatError, StoreError
from edge0_tui.chat.merge import merge
from edge0_tui.chat.sidecar import Sidecar
from edge0_tui.chat.summary import Summary, summarise


@dataclass(frozen=True)
class Saved:
    """What is on disk now, and where. `note` tells the user about a new file; it is said once."""

    conversation: Conversation
    path: Path | None
    note: str = ""


@dataclass(frozen=True)
class Loaded:
    """`note` says why the next save will go to a new file, when it will."""

    conversation: Conversation
    path: Path
    note: str = ""


class TranscriptStore:
    """May be used from several threads; other instances may use the same directory."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._paths: dict[str, Path] = {}
        self._stamps: dict[Path, str] = {}
        self._lock = threading.Lock()

    # --- reading --------------------------------------------------------------------------------------------

    def list(self) -> Sequence[Summary]:
        """All chats, latest first. Damaged files are in it with their problem."""
        try:
            names = {path.name for path in self.directory.iterdir()}
        except FileNotFoundError:
            return []
        except OSError as error:
            raise StoreError.at(self.directory, error) from error
        paths = [self.directory / name for name in names if name.endswith(".md")]
        orphans = [name for name in names if name.endswith(".json") and f"{name[:-5]}.md" not in names]
        found = [*map(summarise, paths), *filter(None, (self._orphan(name) for name in orphans))]
        summaries = sorted(found, key=lambda summary: summary.updated, reverse=True)
        seen: set[str] = set()
        result: list[Summary] = []
        for summary in summaries:
            if summary.id in seen:
                summary = replace(summary, id=summary.path.stem, problem="an earlier file of the same chat")
            seen.add(summary.id)
            result.append(summary)
        return result

    def load(self, id: str) -> Conversation:
        """The conversation with this id (or file name). Raises `StoreError` naming the file."""
        return self.open(id).conversation

    def open(self, id: str) -> Loaded:
        """Like `load`, with the file and what is to be said about it."""
        path = self._find(id)
        markdown, beside = files.read(path), sidecar.path_of(path)
        data = files.read(beside)
        if markdown is None and data is None:
            raise StoreError.because(path, "the file is gone")
        try:
            whole = sidecar.read(data) if data is not None else None
            problem = "" if whole else f"{beside.name} is missing"
        except FormatError as error:
            whole, problem = None, f"{beside.name} is damaged ({error})"
        if whole is None or data is None:
            return self._from_markdown(path, markdown or b"", problem)
        with self._lock:
            self._paths[whole.conversation.id] = path
            self._stamps[path] = files.digest(data)
        edited = markdown is not None and files.digest(markdown) not in whole.markdown
        note = f"{path.name} was edited by hand and is left as it is." if edited else ""
        return Loaded(whole.conversation, path, note)

    def _from_markdown(self, path: Path, markdown: bytes, problem: str) -> Loaded:
        try:
            conversation = transcript_file.read(markdown)
        except FormatError as error:
            raise StoreError.because(path, f"not a transcript ({error}); {problem}") from error
        with self._lock:
            self._paths[conversation.id] = path
        return Loaded(conversation, path, f"{problem}; {path.name} has been read and is left as it is.")

    def _orphan(self, name: str) -> Summary | None:
        """A sidecar without Markdown. One whose first Markdown was never written is a chat that a crash cut off
        during its first save; any other has lost its Markdown to somebody who deleted it."""
        path = (self.directory / name).with_suffix(".md")
        try:
            whole = sidecar.read(files.read(self.directory / name) or b"")
        except (FormatError, StoreError):
            return None
        if len(whole.markdown) > 1:
            return None
        chat = whole.conversation
        return Summary(path, chat.id, chat.title, chat.updated, chat.created, turns=len(chat.turns))

    def _find(self, id: str) -> Path:
        by_name = self.directory / f"{id}.md"
        found = [summary.path for summary in self.list() if summary.id == id]
        if found or (by_name.parent == self.directory and by_name.is_file()):
            return found[0] if found else by_name
        raise StoreError.because(self.directory, f"there is no chat {id}")

    # --- saving ---------------------------------------------------------------------------------------------

    def save(self, conversation: Conversation) -> Saved:
        """Write both files. Raises `StoreError`; the files are then as they were. Nothing said and nothing
        drafted makes no file."""
        with self._lock:
            path = self._paths.get(conversation.id)
            if path is None and not conversation.turns and not conversation.draft:
                return Saved(conversation, None)
            with files.lock(self.directory):
                return self._save(conversation, path)

    def _save(self, conversation: Conversation, known: Path | None) -> Saved:
        path, note, previous = known or self._existing(conversation) or self._fresh(conversation), "", ""
        markdown = files.read(path)
        data = files.read(sidecar.path_of(path))
        if markdown is not None or data is not None:
            try:
                there = sidecar.read(data) if data is not None else None
            except FormatError:
                there = None
            previous = files.digest(markdown) if markdown is not None else ""
            if there is None or data is None or (previous and previous not in there.markdown):
                note, previous = f"{path.name} was changed elsewhere and is left as it is", ""
                path = self._fresh(conversation)
                note = f"{note}; this chat goes on in {path.name}."
            elif files.digest(data) != self._stamps.get(path):
                conversation = merge(conversation, there.conversation)
        return self._write(conversation, path, previous, note)

    def _write(self, conversation: Conversation, path: Path, previous: str, note: str) -> Saved:
        markdown = transcript_file.write(conversation)
        digests = (files.digest(markdown), *([previous] if previous else []))
        data = sidecar.write(Sidecar(conversation, digests))
        files.write(sidecar.path_of(path), data)
        self._paths[conversation.id], self._stamps[path] = path, files.digest(data)
        files.write(path, markdown)
        return Saved(conversation, path, note)

    def _existing(self, conversation: Conversation) -> Path | None:
        """The file of a chat that was not loaded here, by the piece of the id in its name."""
        for path in sorted(self.directory.glob(f"*-{names.ident(conversation)}*.md"), reverse=True):
            if summarise(path).id == conversation.id:
                return path
        return None

    def _fresh(self, conversation: Conversation) -> Path:
        def taken(stem: str) -> bool:
            return any((self.directory / f"{stem}{suffix}").exists() for suffix in (".md", ".json"))

        return self.directory / f"{names.stem(conversation, taken)}.md"
