"""What a person can do with saved chats: find, rename, pin, archive, copy, delete, restore, export, import.

The screen and the command line both go through here. Everything blocks and may be called from threads.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from edge0_tui.chat import codec
from edge0_tui.chat.conversation import Conversation
from edge0_tui.chat.errors import StoreError
from edge0_tui.chat.index import Hit, Index
from edge0_tui.chat.query import Query
from edge0_tui.chat.store import Loaded, Saved, TranscriptStore
from edge0_tui.chat.summary import Summary
from edge0_tui.chat.trash import Deleted, Trash
from edge0_tui.chat.turn import new_id
from edge0_tui.exchange.formats import Format, export, read_file
from edge0_tui.paths import Paths

_GOOD_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
_LONGEST_NAME = 200


@dataclass(frozen=True)
class Imported:
    """`new` is False for a chat that is here already, just as it is in the file."""

    conversation: Conversation
    path: Path
    note: str = ""
    new: bool = True


class Collection:
    """All methods raise `StoreError` with the file's name and what is wrong with it."""

    def __init__(self, paths: Paths) -> None:
        self.directory = paths.transcripts
        self._index = Index(paths.transcripts, paths.chats / "index.sqlite3")
        self._trash = Trash(paths.transcripts)
        self._undo: list[str] = []

    def close(self) -> None:
        self._index.close()

    # --- finding --------------------------------------------------------------------------------------------

    def chats(self) -> Sequence[Summary]:
        """All of them, archived ones too: pinned first, then the latest. Damaged files have their `problem`."""
        return self._index.chats()

    def search(
        self, query: Query, among: Sequence[Summary] | None = None, cancelled: Callable[[], bool] = lambda: False
    ) -> Iterator[Hit]:
        """The chats with all the words, in the order of `chats`, each as soon as it is found."""
        return self._index.search(query, among, cancelled)

    def warm(self, cancelled: Callable[[], bool]) -> None:
        """Read the texts that are not known yet, so that the first search is as quick as any."""
        self._index.warm(cancelled)

    def find(self, wanted: str) -> Path:
        """A chat's file by id or file name; the beginning of one is enough."""
        return TranscriptStore(self.directory).find(wanted)

    def open(self, wanted: str) -> Loaded:
        return TranscriptStore(self.directory).open(wanted)

    # --- changing -------------------------------------------------------------------------------------------

    def rename(self, id: str, name: str) -> Saved:
        """An empty name brings the first line of the chat back as its title."""
        return self._change(id, name=" ".join(name.split())[:_LONGEST_NAME])

    def pin(self, id: str, pinned: bool) -> Saved:
        return self._change(id, pinned=pinned)

    def archive(self, id: str, archived: bool) -> Saved:
        return self._change(id, archived=archived)

    def duplicate(self, id: str) -> Saved:
        """A new chat with the same turns and branches."""
        store = TranscriptStore(self.directory)
        return store.save(store.load(id).duplicate())

    def _change(self, id: str, **values: object) -> Saved:
        # A store of its own, as another instance would have: one with the chat open merges at its next save.
        store = TranscriptStore(self.directory)
        return store.save(replace(store.load(id), **values))  # type: ignore[arg-type]

    # --- deleting -------------------------------------------------------------------------------------------

    def delete(self, path: Path) -> str:
        """Move a chat to the trash; answers with the key for `restore`. What is old in there goes for good."""
        self._trash.purge()
        self._undo.append(self._trash.put(path))
        return self._undo[-1]

    def undo(self) -> Path | None:
        """Restore what was deleted last, here and since the start; None when there is nothing left to undo."""
        return self.restore(self._undo[-1]) if self._undo else None

    def restore(self, key: str) -> Path:
        self._undo = [other for other in self._undo if other != key]
        return self._trash.take_back(key)

    def deleted(self) -> Sequence[Deleted]:
        """What can be restored, deleted last first."""
        return self._trash.list()

    # --- giving away and taking in --------------------------------------------------------------------------

    def export(
        self, id: str, format: Format, target: Path, *, branch: bool = False, overwrite: bool = False
    ) -> Path:
        """Write a file. Into a folder it goes under the chat's name; a file that is there is left, or refused."""
        loaded = self.open(id)
        data = export(loaded.conversation, format, branch=branch)
        if target.is_dir():
            target = _free(target / f"{loaded.path.stem}.{format}")
        _write(target, data, "wb" if overwrite else "xb")
        return target

    def take_in(self, path: Path) -> Imported:
        """Import a file as a chat; one that differs from the chat with its id becomes a chat of its own."""
        taken = read_file(path)
        conversation, note = taken.conversation, taken.note
        if not _GOOD_ID.fullmatch(conversation.id):
            conversation = replace(conversation, id=new_id())
        store = TranscriptStore(self.directory)
        with contextlib.suppress(StoreError):
            there = store.open(conversation.id)
            if there.conversation.id == conversation.id:
                if codec.to_json(there.conversation) == codec.to_json(conversation):
                    return Imported(conversation, there.path, "it is here already", new=False)
                copy = replace(conversation, id=new_id())
                note = "; ".join(filter(None, (note, f"a copy beside {there.path.name}, which differs")))
                return self._keep(TranscriptStore(self.directory), copy, note, path)
        return self._keep(store, conversation, note, path)

    def _keep(self, store: TranscriptStore, conversation: Conversation, note: str, source: Path) -> Imported:
        saved = store.save(conversation)
        if saved.path is None:
            raise StoreError.because(source, "there is nothing in this chat")
        return Imported(saved.conversation, saved.path, note)


def _free(path: Path) -> Path:
    number, free = 2, path
    while free.exists():
        free, number = path.with_name(f"{path.stem}-{number}{path.suffix}"), number + 1
    return free


def _write(path: Path, data: bytes, mode: str) -> None:
    try:
        with path.open(mode) as file:
            file.write(data)
    except FileExistsError as error:
        raise StoreError.because(path, "there is a file of this name already") from error
    except OSError as error:
        raise StoreError.at(path, error) from error
