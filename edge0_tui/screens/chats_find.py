"""Looking for chats beside the screen: one search at a time, told in pieces, given up when the next one begins."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from edge0_tui.chat.errors import StoreError
from edge0_tui.chat.index import Hit
from edge0_tui.chat.query import Query
from edge0_tui.chat.summary import Summary
from edge0_tui.collection import Collection

_PIECE_SECONDS = 0.05
Asked = tuple[int, Query, Sequence[Summary]]


@dataclass(frozen=True)
class Found:
    """Some more hits of one search. `first` begins the list anew; with `over` there are no more."""

    search: int
    hits: Sequence[Hit]
    first: bool = False
    over: bool = False
    problem: str = ""


class Finder:
    """`tell` is called from a thread. Typing on narrows what the last whole search has found."""

    def __init__(self, collection: Collection, tell: Callable[[Found], object]) -> None:
        self._collection, self._tell = collection, tell
        self._present = 0
        self._lock = threading.Lock()
        self._next: Asked | None = None
        self._running = False
        self._last: tuple[Query, Sequence[Summary]] | None = None

    def begin(self, query: Query, among: Sequence[Summary]) -> int:
        """Start a search through these chats; its number is in what `tell` gets. The one before is given up."""
        self._present += 1
        if self._last is not None and self._last[0].words and query.narrows(self._last[0]):
            found = {chat.path for chat in self._last[1]}
            among = [chat for chat in among if chat.path in found]
        with self._lock:
            self._next = (self._present, query, among)
            if not self._running:
                self._running = True
                threading.Thread(target=self._work, daemon=True).start()
        return self._present

    def stop(self) -> None:
        """Give up the present search; nothing more is told."""
        self._present += 1

    def forget(self) -> None:
        """The chats have changed: the next search looks at all of them."""
        self._last = None

    def _work(self) -> None:
        """One thread for all: of the searches asked for while it was busy only the last is begun."""
        try:
            while (asked := self._take()) is not None:
                self._run(*asked)
        except BaseException:
            self._running = False  # the next search gets a thread of its own; this one ends with its traceback
            raise

    def _take(self) -> Asked | None:
        with self._lock:
            asked, self._next = self._next, None
            self._running = asked is not None
            return asked

    def _run(self, number: int, query: Query, among: Sequence[Summary]) -> None:
        def cancelled() -> bool:
            return number != self._present

        waiting: list[Hit] = []
        whole: list[Summary] = []
        first, told = True, 0.0
        try:
            for hit in self._collection.search(query, among, cancelled):
                waiting.append(hit)
                whole.append(hit.summary)
                if time.monotonic() - told >= _PIECE_SECONDS:
                    self._tell(Found(number, waiting, first))
                    waiting, first, told = [], False, time.monotonic()
        except StoreError as error:
            self._tell(Found(number, waiting, first, True, f"{error.filename}: {error.strerror}"))
            return
        if not cancelled():
            self._last = (query, whole)
            self._tell(Found(number, waiting, first, True))
