"""What is known of the chats without opening them: summaries, and texts folded for the search.

All of it can be made again from the files. What is known of a file counts only while the file's stamp is the
same, so nobody has to tell the index of changes, and two instances may share one.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from edge0_tui.chat.fold import fold
from edge0_tui.chat.index_database import IndexDatabase
from edge0_tui.chat.listing import Pair, arrange, look, pinned_first, scan
from edge0_tui.chat.query import Query, Snippet, snippet
from edge0_tui.chat.searchable import text_of
from edge0_tui.chat.summary import Summary

WIDEST = 200
"""Characters of a snippet; lists show what they have room for."""
_LOOK_SECONDS = 20.0
_FIRST_PIECE, _PIECE = 32, 128


@dataclass(frozen=True)
class Hit:
    """A chat with all the words, and a line of its text with some of them: empty if they are in its title only."""

    summary: Summary
    snippet: Snippet


class Index:
    """Its methods block and may be called from several threads. Reading the directory raises `StoreError`."""

    def __init__(self, directory: Path, database: Path) -> None:
        self.directory = directory
        self._database = IndexDatabase(database, directory)
        self._lock = threading.Lock()
        self._moment, self._folder = -_LOOK_SECONDS, -1
        self._pairs: Mapping[Path, Pair] = {}
        self._stamps: dict[str, str] = {}

    def chats(self) -> Sequence[Summary]:
        """All chats, pinned ones first, then the latest. Opens only files that have changed."""
        pairs = self._looked_at(fresh=True)
        return self._summaries(pairs.values())

    def search(
        self, query: Query, among: Sequence[Summary] | None = None, cancelled: Callable[[], bool] = lambda: False
    ) -> Iterator[Hit]:
        """The chats with all the words in title and text, each as soon as it is found; `among` narrows the search.

        Texts of files that have changed are read on the way, so the first search of all takes longest.
        """
        if among is None:
            among = self.chats()
        pairs = self._looked_at()
        for chats in _pieces([chat for chat in among if chat.path in pairs]):
            if cancelled():
                return
            having = self._having(query, [pairs[chat.path] for chat in chats])
            for chat in chats:
                if cancelled():
                    return
                if (hit := self._hit(chat, pairs[chat.path], query, having)) is not None:
                    yield hit

    def warm(self, cancelled: Callable[[], bool]) -> None:
        """Read the texts that are not known yet, so that the first search is as quick as any."""
        pairs = scan(self.directory)
        with self._lock:
            stamps = self._database.text_stamps()
        for pair in pairs:
            if cancelled():
                return
            if stamps.get(pair.path.stem) != pair.stamp:
                with self._lock:
                    self._text(pair)

    def close(self) -> None:
        with self._lock:
            self._database.close()

    def _summaries(self, pairs: Iterable[Pair]) -> Sequence[Summary]:
        with self._lock:
            known = self._database.summaries()
            current = {pair.path.stem: pair for pair in pairs}
            fresh = {
                name: (pair.stamp, look(pair))
                for name, pair in current.items()
                if known.get(name, ("",))[0] != pair.stamp
            }
            if fresh:
                self._database.put_summaries(fresh)
            if gone := known.keys() - current.keys():
                self._database.forget(gone)
        found: Mapping[str, tuple[str, Summary | None]] = {**known, **fresh}
        return pinned_first(arrange(summary for name in current if (summary := found[name][1]) is not None))

    def _having(self, query: Query, pairs: Sequence[Pair]) -> Mapping[str, frozenset[str]]:
        """For each word the names of those files that have it; reads what has changed first."""
        names = [pair.path.stem for pair in pairs]
        with self._lock:
            while True:
                begun = self._database.begun
                self._stamps = self._stamps or dict(self._database.text_stamps())
                for pair in pairs:
                    if self._stamps.get(pair.path.stem) != pair.stamp:
                        self._text(pair)
                        self._stamps[pair.path.stem] = pair.stamp
                found = {word: self._database.having(word.encode(), names) for word in query.words}
                if begun == self._database.begun:
                    return found
                self._stamps = {}  # a new database knows nothing of what the old one knew

    def _hit(self, chat: Summary, pair: Pair, query: Query, having: Mapping[str, frozenset[str]]) -> Hit | None:
        title, name = fold(chat.title), pair.path.stem
        elsewhere = [word for word in query.words if word not in title]
        if any(name not in having[word] for word in elsewhere):
            return None
        if not any(name in having[word] for word in query.words):
            return Hit(chat, Snippet(""))
        with self._lock:
            folded, plain = self._text(pair)
        return Hit(chat, snippet(plain.decode(), folded.decode(), query.words, WIDEST, elsewhere))

    def _looked_at(self, *, fresh: bool = False) -> Mapping[Path, Pair]:
        """The files. For the searches of somebody who types they are looked at once, until one is put in or taken
        out of the folder, as every save does; a file edited in its place is seen a little later."""
        with self._lock:
            try:
                folder = self.directory.stat().st_mtime_ns
            except OSError:
                folder = 0
            moment = time.monotonic()
            if fresh or folder != self._folder or moment - self._moment > _LOOK_SECONDS:
                self._pairs = {pair.path: pair for pair in scan(self.directory)}
                self._stamps, self._folder, self._moment = {}, folder, moment
            return self._pairs

    def _text(self, pair: Pair) -> tuple[bytes, bytes]:
        """Folded and plain; read from the files if they have changed."""
        name = pair.path.stem
        known = self._database.text(name, pair.stamp)
        if known is None:
            text = text_of(pair.path)
            known = fold(text).encode(), text.encode()
            if text:  # without any, the files may be gone just now, and may come back with the same stamp
                self._database.put_text(name, pair.stamp, *known)
        return known


def _pieces(chats: Sequence[Summary]) -> Iterator[Sequence[Summary]]:
    """A small one for the first results, then larger ones."""
    yield chats[:_FIRST_PIECE]
    for start in range(_FIRST_PIECE, len(chats), _PIECE):
        yield chats[start : start + _PIECE]
