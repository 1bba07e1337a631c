"""The directory of transcripts: listing, reading, and saving without ever losing what somebody wrote.

A pair of files is ours to replace only while the sidecar knows the Markdown's digest. Edited by hand, damaged
or alien files stay as they are, and the conversation goes on in a new file. A pair that another instance has
changed meanwhile is merged.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from edge0_tui.chat import files, names, sidecar, transcript_file
from edge0_tui.chat.conversation import Conversation
from edge0_tui.chat.errors import FormatError, StoreError
from edge0_tui.chat.listing import catalogue
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
        self._ours: dict[Path, tuple[str, Sidecar]] = {}
        self._lock = threading.Lock()

    # --- reading --------------------------------------------------------------------------------------------

    def list(self) -> Sequence[Summary]:
        """All chats, latest first. Damaged files are in it with their problem."""
        return catalogue(self.directory)

    def load(self, id: str) -> Conversation:
        """The conversation with this id (or file name). Raises `StoreError` naming the file."""
        return self.open(id).conversation

    def open(self, id: str) -> Loaded:
        """Like `load`, with the file and what is to be said about it."""
        path = self.find(id)
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
            self._know(whole, path, data)
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

    def find(self, wanted: str) -> Path:
        """By id or file name without looking at every file, else by the beginning of one."""
        if (latest := self._latest(wanted)) is not None:
            return latest
        by_name = self.directory / f"{wanted}.md"
        if by_name.parent == self.directory and by_name.is_file():
            return by_name
        chats = self.list()
        found = [chat.path for chat in chats if wanted in (chat.id, chat.path.stem)]
        if not found and wanted:
            found = [c.path for c in chats if c.id.startswith(wanted) or c.path.stem.startswith(wanted)]
        if len(found) == 1:
            return found[0]
        if found:
            some = ", ".join(path.stem for path in found[:5])
            raise StoreError.because(self.directory, f"{wanted} fits {len(found)} chats: {some}")
        raise StoreError.because(self.directory, f"there is no chat {wanted}")

    def _latest(self, id: str) -> Path | None:
        """The file of a chat, by the piece of the id in its name; of several the one written last."""
        piece = names.ident(id)
        paths = self.directory.glob(f"*{piece}*.md") if piece else iter(())
        found = [summary for summary in map(summarise, paths) if summary.id == id and not summary.problem]
        return max(found, key=lambda summary: summary.updated).path if found else None

    # --- saving ---------------------------------------------------------------------------------------------

    def save(self, conversation: Conversation) -> Saved:
        """Write both files. Raises `StoreError`; the files are then as they were. Nothing said and nothing
        drafted makes no file, and takes away the file of a draft that is no more."""
        with self._lock:
            known = self._paths.get(conversation.id)
            if known is None and _empty(conversation):
                return Saved(conversation, None)
            with files.lock(self.directory):
                return self._save(conversation, known)

    def _save(self, conversation: Conversation, known: Path | None) -> Saved:
        if known is not None and not known.exists() and not sidecar.path_of(known).exists():
            known = None
        path, note, previous = known or self._latest(conversation.id) or self._fresh(conversation), "", ""
        draft_only: Path | None = None
        markdown = files.read(path)
        data = files.read(sidecar.path_of(path))
        if markdown is not None or data is not None:
            there, changed = self._there(path, data)
            previous = files.digest(markdown) if markdown is not None else ""
            if there is None or data is None or (previous and previous not in there.markdown):
                note, previous = f"{path.name} was changed elsewhere and is left as it is", ""
                path = self._fresh(conversation)
                note = f"{note}; this chat goes on in {path.name}."
            else:
                if changed:
                    base = self._ours[path][1].conversation if path in self._ours else None
                    conversation = merge(conversation, there.conversation, base)
                if _empty(conversation) and previous:
                    return self._take_away(conversation, path)
                if conversation.turns and not there.conversation.turns and previous:
                    # A draft's file was named after half a question; the whole one gives a better name.
                    draft_only, path, previous = path, self._fresh(conversation), ""
        saved = self._write(conversation, path, previous, note)
        if draft_only is not None:
            _remove(draft_only)
        return saved

    def _there(self, path: Path, data: bytes | None) -> tuple[Sidecar | None, bool]:
        """What is on disk, None if damaged, and whether another wrote it. Our own need not be parsed again: it is
        known but for its turns, of which one stands for all."""
        if data is None:
            return None, True
        stamp, ours = self._ours.get(path, ("", None))
        if files.digest(data) == stamp:
            return ours, False
        try:
            return sidecar.read(data), True
        except FormatError:
            return None, True

    def _take_away(self, conversation: Conversation, path: Path) -> Saved:
        _remove(path)
        del self._paths[conversation.id]
        return Saved(conversation, None)

    def _write(self, conversation: Conversation, path: Path, previous: str, note: str) -> Saved:
        markdown = transcript_file.write(conversation)
        digests = (files.digest(markdown), *([previous] if previous else []))
        whole = Sidecar(conversation, digests)
        data = sidecar.write(whole)
        files.write(sidecar.path_of(path), data)
        self._know(whole, path, data)
        files.write(path, markdown)
        return Saved(conversation, path, note)

    def _know(self, whole: Sidecar, path: Path, data: bytes) -> None:
        """Remember what is on disk: later states are told from this one."""
        chat = whole.conversation
        outline = replace(chat, turns=dict(islice(chat.turns.items(), 1)), chosen={})
        self._paths[chat.id], self._ours[path] = path, (files.digest(data), Sidecar(outline, whole.markdown))

    def _fresh(self, conversation: Conversation) -> Path:
        def taken(stem: str) -> bool:
            return any((self.directory / f"{stem}{suffix}").exists() for suffix in (".md", ".json"))

        return self.directory / f"{names.stem(conversation, taken)}.md"


def _empty(conversation: Conversation) -> bool:
    return not (conversation.turns or conversation.draft or conversation.name or conversation.system)


def _remove(path: Path) -> None:
    """Both files, the Markdown first: a sidecar left alone by a crash is not taken for a damaged chat."""
    try:
        path.unlink(missing_ok=True)
        sidecar.path_of(path).unlink(missing_ok=True)
    except OSError as error:
        raise StoreError.at(path, error) from error
