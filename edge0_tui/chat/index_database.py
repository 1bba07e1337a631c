"""The file of the index: one table of summaries, one of texts. What cannot be kept on disk is kept in memory."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from edge0_tui.chat.front_matter import encodable
from edge0_tui.chat.summary import Summary

Value = TypeVar("Value")
Known = tuple[str, Summary | None]
"""A stamp, and the summary that was true then; None for what is no chat."""

_VERSION = 1
_TABLES = """
CREATE TABLE IF NOT EXISTS summaries (name TEXT PRIMARY KEY, stamp TEXT, chat INTEGER, id TEXT, title TEXT,
    updated TEXT, created TEXT, model TEXT, turns INTEGER, pinned INTEGER, archived INTEGER, problem TEXT);
CREATE TABLE IF NOT EXISTS texts (name TEXT PRIMARY KEY, stamp TEXT, folded BLOB, text BLOB);
"""
_DROP = "DROP TABLE IF EXISTS summaries; DROP TABLE IF EXISTS texts;"
_PATIENCE = 1.0


class IndexDatabase:
    """For one thread at a time. Never raises for what is in the file: a damaged one is thrown away."""

    def __init__(self, path: Path, directory: Path) -> None:
        self._path, self._directory = path, directory
        self._db: sqlite3.Connection | None = None
        self.begun = 0
        """How often it was begun anew: what was known of its content before is then wrong."""

    def summaries(self) -> Mapping[str, Known]:
        """By file name without suffix."""
        return self._try(self._all_summaries)

    def put_summaries(self, known: Mapping[str, Known]) -> None:
        rows = [_row(name, stamp, summary) for name, (stamp, summary) in known.items()]
        self._try(partial(_many, ask=f"REPLACE INTO summaries VALUES ({','.join('?' * 12)})", rows=rows))

    def text(self, name: str, stamp: str) -> tuple[bytes, bytes] | None:
        """The folded and the plain text of a chat as of this stamp, in UTF-8."""
        ask = "SELECT folded, text FROM texts WHERE name = ? AND stamp = ?"
        row = self._try(lambda db: db.execute(ask, (name, stamp)).fetchone())
        return None if row is None else (bytes(row[0]), bytes(row[1]))

    def text_stamps(self) -> Mapping[str, str]:
        """Of which state of the files the texts are, by file name without suffix."""
        # One row: Python lets other threads in at every row, and waits for them, which a busy screen makes long.
        ask = "SELECT group_concat(hex(name) || ' ' || stamp, ' ') FROM texts"
        words = str(self._try(lambda db: db.execute(ask).fetchone())[0] or "").split(" ")
        return {bytes.fromhex(name).decode(): stamp for name, stamp in zip(words[::2], words[1::2], strict=False)}

    def having(self, word: bytes, names: Sequence[str]) -> frozenset[str]:
        """Those of the names whose text has the folded word, found in one step as in `text_stamps`."""
        places = ",".join("?" * len(names))
        ask = f"SELECT group_concat(hex(name), ' ') FROM texts WHERE name IN ({places}) AND instr(folded, ?)"
        found = str(self._try(lambda db: db.execute(ask, (*names, word)).fetchone())[0] or "")
        return frozenset(bytes.fromhex(name).decode() for name in found.split())

    def put_text(self, name: str, stamp: str, folded: bytes, text: bytes) -> None:
        self._try(lambda db: db.execute("REPLACE INTO texts VALUES (?,?,?,?)", (name, stamp, folded, text)))

    def forget(self, names: Iterable[str]) -> None:
        rows = [(name,) for name in names]
        for table in ("summaries", "texts"):
            self._try(partial(_many, ask=f"DELETE FROM {table} WHERE name = ?", rows=rows))

    def close(self) -> None:
        if self._db is not None:
            with contextlib.suppress(sqlite3.Error):
                self._db.close()
            self._db = None

    # --- what may go wrong ----------------------------------------------------------------------------------

    def _try(self, work: Callable[[sqlite3.Connection], Value]) -> Value:
        """Do it; with a damaged file do it in a new one, and where none can be used in memory."""
        try:
            return work(self._open())
        except sqlite3.OperationalError:
            return self._in_memory(work)  # locked for long, a full disk, a folder that cannot be written
        except (sqlite3.Error, ValueError, TypeError):
            self.close()
            self._throw_away()
        try:
            return work(self._open())
        except sqlite3.Error:
            return self._in_memory(work)

    def _open(self) -> sqlite3.Connection:
        if self._db is None:
            with contextlib.suppress(OSError):
                self._path.parent.mkdir(parents=True, exist_ok=True)
            self._db = _connect(str(self._path))
            _prepare(self._db)
        return self._db

    def _in_memory(self, work: Callable[[sqlite3.Connection], Value]) -> Value:
        self.close()
        self.begun += 1
        self._db = _connect(":memory:")
        _prepare(self._db)
        return work(self._db)

    def _throw_away(self) -> None:
        self.begun += 1
        for suffix in ("", "-wal", "-shm"):
            with contextlib.suppress(OSError):
                self._path.with_name(self._path.name + suffix).unlink()

    def _all_summaries(self, db: sqlite3.Connection) -> Mapping[str, Known]:
        return {row[0]: (row[1], self._summary(row)) for row in db.execute("SELECT * FROM summaries")}

    def _summary(self, row: tuple[Any, ...]) -> Summary | None:
        name, _, chat, id, title, updated, created, model, turns, pinned, archived, problem = row
        if not chat:
            return None
        moments = datetime.fromisoformat(updated), datetime.fromisoformat(created)
        path = self._directory / f"{name}.md"
        return Summary(path, id, title, *moments, model, turns, bool(pinned), bool(archived), problem)


def _connect(place: str) -> sqlite3.Connection:
    return sqlite3.connect(place, timeout=_PATIENCE, check_same_thread=False, isolation_level=None)


def _prepare(db: sqlite3.Connection) -> None:
    """Our tables, empty if another version made them. What is deleted leaves no text behind in the file."""
    db.executescript("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA secure_delete = ON;")
    if db.execute("PRAGMA user_version").fetchone()[0] != _VERSION:
        db.executescript(f"BEGIN; {_DROP} {_TABLES} PRAGMA user_version = {_VERSION}; COMMIT;")


def _many(db: sqlite3.Connection, ask: str, rows: Sequence[tuple[Any, ...]]) -> None:
    db.execute("BEGIN IMMEDIATE")
    try:
        db.executemany(ask, rows)
    finally:
        db.execute("COMMIT")


def _row(name: str, stamp: str, summary: Summary | None) -> tuple[Any, ...]:
    if summary is None:
        return (name, stamp, 0, *[None] * 9)
    texts = [encodable(text) for text in (summary.id, summary.title, summary.model, summary.problem)]
    id, title, model, problem = texts
    moments = summary.updated.isoformat(), summary.created.isoformat()
    return (name, stamp, 1, id, title, *moments, model, summary.turns, summary.pinned, summary.archived, problem)
