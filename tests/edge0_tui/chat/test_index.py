from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from edge0_tui.chat import index_database, listing
from edge0_tui.chat.conversation import Conversation
from edge0_tui.chat.index import Index
from edge0_tui.chat.listing import latest
from edge0_tui.chat.query import Query
from edge0_tui.chat.store import TranscriptStore
from edge0_tui.chat.summary import Summary
from edge0_tui.chat.turn import Turn


def chat(question: str, answer: str = "") -> Conversation:
    asked = Conversation().add(Turn("user", question, id="q"))
    return asked.add(Turn("assistant", answer, "", "q", id="a")) if answer else asked


@pytest.fixture
def store(tmp_path: Path) -> TranscriptStore:
    return TranscriptStore(tmp_path / "transcripts")


@pytest.fixture
def index(store: TranscriptStore, tmp_path: Path) -> Iterator[Index]:
    opened = Index(store.directory, tmp_path / "index.sqlite3")
    yield opened
    opened.close()


def titles(index: Index, text: str) -> list[str]:
    return [hit.summary.title for hit in index.search(Query.parse(text))]


def test_all_words_are_looked_for_in_titles_texts_and_other_versions(store: TranscriptStore, index: Index) -> None:
    told = chat("What is a slot?", "Room for one expert.")
    store.save(told.add(Turn("assistant", "Ein Plätzchen.", "", "q", id="b")))
    store.save(chat("Expert routing", "By the router."))
    assert titles(index, "EXPERT room") == ["What is a slot?"]
    assert titles(index, "platzchen") == titles(index, "slot expert") == ["What is a slot?"]
    assert sorted(titles(index, "expert")) == ["Expert routing", "What is a slot?"]
    assert titles(index, "expert nowhere") == []
    (hit,) = index.search(Query.parse("room"))
    assert [hit.snippet.text[a:b] for a, b in hit.snippet.spans] == ["Room"]


def test_pinned_chats_come_first_then_the_latest(store: TranscriptStore, index: Index) -> None:
    for number in range(3):
        store.save(replace(chat(f"chat {number}"), pinned=number == 0))
    assert [summary.title for summary in index.chats()] == ["chat 0", "chat 2", "chat 1"]
    assert titles(index, "chat") == ["chat 0", "chat 2", "chat 1"]


def test_only_what_has_changed_is_read(
    store: TranscriptStore, index: Index, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for number in range(5):
        store.save(chat(f"chat {number}", "text"))
    changed = chat("once")
    store.save(changed)
    index.chats()
    index.warm(lambda: False)
    read: list[str] = []
    opened = Path.open

    def counted(path: Path, *args: object, **kwargs: object) -> object:
        read.append(path.name)
        return opened(path, *args, **kwargs)  # type: ignore[call-overload]

    with monkeypatch.context() as patched:
        patched.setattr(Path, "open", counted)
        again = Index(store.directory, tmp_path / "index.sqlite3")
        assert len(again.chats()) == 6
        assert len(titles(again, "text")) == 5
        assert read == []
    store.save(replace(changed, name="twice"))
    with monkeypatch.context() as patched:
        patched.setattr(Path, "open", counted)
        assert "twice" in [summary.title for summary in again.chats()]
        assert len(read) == 1
    again.close()


def test_what_is_gone_is_forgotten(store: TranscriptStore, index: Index, tmp_path: Path) -> None:
    path = store.save(chat("a secret word")).path
    assert path is not None and titles(index, "secret")
    path.unlink()
    path.with_suffix(".json").unlink()
    assert titles(index, "secret") == []
    index.close()
    for file in tmp_path.glob("index.sqlite3*"):
        assert b"secret" not in file.read_bytes()


@pytest.mark.parametrize("content", [b"not a database at all" * 100, b"", None])
def test_a_damaged_index_is_made_anew(store: TranscriptStore, tmp_path: Path, content: bytes | None) -> None:
    store.save(chat("hello"))
    file = tmp_path / "index.sqlite3"
    if content is None:
        whole = Index(store.directory, file)
        whole.warm(lambda: False)
        whole.chats()
        whole.close()
        data = bytearray(file.read_bytes())
        data[4096:] = b"\xff" * (len(data) - 4096)
        file.write_bytes(bytes(data))
    else:
        file.write_bytes(content)
    index = Index(store.directory, file)
    assert titles(index, "hello") == ["hello"]
    index.close()


def test_an_index_of_another_version_is_made_anew(store: TranscriptStore, tmp_path: Path) -> None:
    store.save(chat("hello"))
    with sqlite3.connect(tmp_path / "index.sqlite3") as db:
        db.executescript("CREATE TABLE summaries (something TEXT); PRAGMA user_version = 99;")
    db.close()
    index = Index(store.directory, tmp_path / "index.sqlite3")
    assert titles(index, "hello") == ["hello"]
    index.close()


def test_without_a_place_for_it_the_index_is_in_memory(store: TranscriptStore, tmp_path: Path) -> None:
    store.save(chat("hello"))
    (tmp_path / "in-the-way").write_text("")
    index = Index(store.directory, tmp_path / "in-the-way" / "index.sqlite3")
    assert titles(index, "hello") == titles(index, "hello") == ["hello"]
    index.close()


def test_an_index_locked_by_another_instance_does_not_hinder(
    store: TranscriptStore, index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_database, "_PATIENCE", 0.02)
    store.save(chat("hello"))
    index.chats()
    other = sqlite3.connect(tmp_path / "index.sqlite3", isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    mine = Index(store.directory, tmp_path / "index.sqlite3")
    assert titles(mine, "hello") == ["hello"]
    mine.close()
    other.close()


def test_an_index_lost_on_the_way_loses_no_results(
    store: TranscriptStore, index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.save(chat("hello", "world"))
    chats = index.chats()
    query = Query.parse("world")
    assert len(list(index.search(query, chats))) == 1
    real = index_database.IndexDatabase._open
    left = [1]

    def failing(database: index_database.IndexDatabase) -> sqlite3.Connection:
        if left:
            left.pop()
            raise sqlite3.OperationalError("disk I/O error")
        return real(database)

    monkeypatch.setattr(index_database.IndexDatabase, "_open", failing)
    assert len(list(index.search(query, chats))) == 1


def test_a_search_can_be_given_up(store: TranscriptStore, index: Index) -> None:
    for number in range(4):
        store.save(chat(f"chat {number}"))
    stop = threading.Event()
    found = []
    for hit in index.search(Query.parse("chat"), cancelled=stop.is_set):
        found.append(hit)
        stop.set()
    assert len(found) == 1


def test_words_written_into_the_file_by_hand_are_found(store: TranscriptStore, index: Index) -> None:
    path = store.save(chat("hello")).path
    assert path is not None
    path.write_text(path.read_text() + "my own remark\n")
    assert titles(index, "remark") == ["hello"]
    path.with_suffix(".json").write_text("{")
    assert titles(index, "remark") == ["hello"]
    (store.directory / "notes.md").write_text("only remarks")
    assert titles(index, "only") == ["notes"]


def test_the_last_chat_is_found_without_reading_all(
    store: TranscriptStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert latest(store.directory) is None
    for number in range(8):
        path = store.save(chat(f"old {number}")).path
        assert path is not None
        os.utime(path, (1_600_000_000 + number, 1_600_000_000 + number))
    store.save(chat("new"))
    store.save(replace(chat("archived"), archived=True))
    (store.directory / "damaged.md").write_text("")
    looked: list[str] = []
    real = listing.look

    def counted(pair: listing.Pair) -> Summary | None:
        looked.append(pair.path.name)
        return real(pair)

    monkeypatch.setattr(listing, "look", counted)
    found = latest(store.directory)
    assert found is not None and found.title == "new"
    assert len(looked) == 3
