"""What is known of the chats without opening them: summaries, and texts folded for the search.

All of it can be made again from the files. What is known of a file counts only while the file's stamp is the
same, so nobody has to tell the index of changes, and two instances may share one.
"""

from __future__ import annotations

import threading
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

    def chats(self) -> Sequence[Summary]:
        """All chats, pinned ones first, then the latest. Opens only files that have changed."""
        return self._summaries(scan(self.directory))

    def search(
        self, query: Query, among: Sequence[Summary] | None = None, cancelled: Callable[[], bool] = lambda: False
    ) -> Iterator[Hit]:
        """The chats with all the words in title and text, each as soon as it is found; `among` narrows the search.

        Texts of files that have changed are read on the way, so the first search of all takes longest.
        """
        pairs = {pair.path: pair for pair in scan(self.directory)}
        chats = self._summaries(pairs.values()) if among is None else among
        for summary in chats:
            if cancelled():
                return
            if (pair := pairs.get(summary.path)) is not None and (hit := self._hit(summary, pair, query)):
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

    def _hit(self, summary: Summary, pair: Pair, query: Query) -> Hit | None:
        with self._lock:
            folded, plain = self._text(pair)
        title = fold(summary.title)
        elsewhere = [word for word in query.words if word not in title]
        if any(word.encode() not in folded for word in elsewhere):
            return None
        inside = any(word.encode() in folded for word in query.words)
        line = snippet(plain.decode(), folded.decode(), query.words, WIDEST, elsewhere) if inside else Snippet("")
        return Hit(summary, line)

    def _text(self, pair: Pair) -> tuple[bytes, bytes]:
        """Folded and plain; read from the files if they have changed."""
        name = pair.path.stem
        known = self._database.text(name, pair.stamp)
        if known is None:
            text = text_of(pair.path)
            known = fold(text).encode(), text.encode()
            self._database.put_text(name, pair.stamp, *known)
        return known
