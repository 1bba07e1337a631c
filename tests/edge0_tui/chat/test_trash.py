from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from edge0_tui.chat import sidecar
from edge0_tui.chat.conversation import Conversation
from edge0_tui.chat.errors import StoreError
from edge0_tui.chat.store import TranscriptStore
from edge0_tui.chat.trash import KEPT_DAYS, Trash
from edge0_tui.chat.turn import Turn, now


@pytest.fixture
def store(tmp_path: Path) -> TranscriptStore:
    return TranscriptStore(tmp_path)


@pytest.fixture
def trash(tmp_path: Path) -> Trash:
    return Trash(tmp_path)


def saved(store: TranscriptStore, text: str = "hello") -> tuple[Conversation, Path]:
    conversation = Conversation().add(Turn("user", text))
    path = store.save(conversation).path
    assert path is not None
    return conversation, path


def test_what_is_deleted_is_gone_from_the_list_and_comes_back_whole(store: TranscriptStore, trash: Trash) -> None:
    conversation, path = saved(store)
    before = path.read_bytes(), sidecar.path_of(path).read_bytes()
    key = trash.put(path)
    assert store.list() == [] and not sidecar.path_of(path).exists()
    (entry,) = trash.list()
    assert (entry.key, entry.summary.title) == (key, "hello")
    assert trash.take_back(key) == path
    assert (path.read_bytes(), sidecar.path_of(path).read_bytes()) == before
    assert TranscriptStore(store.directory).load(conversation.id) == conversation
    assert trash.list() == [] and list(trash.folder.iterdir()) == []


def test_coming_back_never_overwrites(store: TranscriptStore, trash: Trash) -> None:
    _, path = saved(store)
    key = trash.put(path)
    path.write_text("somebody's own")
    assert trash.take_back(key) == path.with_name(f"{path.stem}-2.md")
    assert path.read_text() == "somebody's own"


def test_damaged_files_can_be_deleted_and_restored(store: TranscriptStore, trash: Trash) -> None:
    broken = store.directory / "broken.md"
    broken.write_bytes(b"\xff")
    key = trash.put(broken)
    assert not broken.exists()
    trash.take_back(key)
    assert broken.read_bytes() == b"\xff"


def test_an_open_chat_that_is_deleted_elsewhere_is_written_again(store: TranscriptStore, trash: Trash) -> None:
    conversation, path = saved(store)
    trash.put(path)
    store.save(conversation.add(Turn("user", "more", parent=conversation.path[-1].id)))
    assert len(TranscriptStore(store.directory).load(conversation.id).path) == 2


def test_after_a_month_it_is_gone_and_nothing_else_is(store: TranscriptStore, trash: Trash) -> None:
    _, path = saved(store)
    key = trash.put(path)
    other = trash.folder / "my own folder"
    other.mkdir()
    (trash.folder / "20200101T000000.000000Z-abcdef").symlink_to(other)
    assert trash.purge(now() + timedelta(days=KEPT_DAYS - 1)) == 0
    assert [entry.key for entry in trash.list()] == [key]
    assert trash.purge(now() + timedelta(days=KEPT_DAYS, seconds=1)) == 1
    assert trash.list() == [] and other.is_dir()


@pytest.mark.parametrize("key", ["", "../..", "20200101T000000.000000Z-abcdef"])
def test_a_key_that_is_none_is_refused(trash: Trash, key: str) -> None:
    with pytest.raises(StoreError, match="no deleted chat"):
        trash.take_back(key)


def test_a_chat_that_is_gone_cannot_be_deleted(store: TranscriptStore, trash: Trash) -> None:
    with pytest.raises(StoreError, match="gone"):
        trash.put(store.directory / "nothing.md")
    assert trash.list() == []
