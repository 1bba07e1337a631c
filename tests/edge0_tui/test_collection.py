from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from edge0_tui.chat.conversation import Conversation
from edge0_tui.chat.errors import StoreError
from edge0_tui.chat.store import TranscriptStore
from edge0_tui.chat.turn import Turn
from edge0_tui.collection import Collection
from edge0_tui.exchange.formats import export
from edge0_tui.paths import Paths


@pytest.fixture
def collection(tmp_path: Path) -> Iterator[Collection]:
    data = tmp_path / "data"
    opened = Collection(Paths(data, tmp_path / "settings.toml", tmp_path, data))
    yield opened
    opened.close()


def saved(collection: Collection, text: str = "hello") -> Conversation:
    return TranscriptStore(collection.directory).save(Conversation().add(Turn("user", text, id="q"))).conversation


def test_name_and_marks_change_without_moving_the_chat_in_the_list(collection: Collection) -> None:
    first, second = saved(collection, "first"), saved(collection, "second")
    collection.rename(first.id, " my\n  name ")
    collection.archive(first.id, True)
    assert [(chat.title, chat.archived) for chat in collection.chats()] == [("second", False), ("my name", True)]
    collection.pin(first.id, True)
    assert [chat.id for chat in collection.chats()] == [first.id, second.id]
    collection.rename(first.id, "")
    assert collection.chats()[0].title == "first"
    assert collection.open(first.id).conversation.updated == first.updated


def test_what_is_changed_here_outlives_the_next_save_of_who_has_it_open(collection: Collection) -> None:
    store = TranscriptStore(collection.directory)
    open_elsewhere = store.load(saved(collection).id)
    collection.rename(open_elsewhere.id, "renamed")
    collection.pin(open_elsewhere.id, True)
    merged = store.save(open_elsewhere.add(Turn("assistant", "hi", parent="q"))).conversation
    assert (merged.name, merged.pinned, len(merged.path)) == ("renamed", True, 2)
    mine = store.save(replace(merged, name="renamed again")).conversation
    assert mine.name == collection.open(mine.id).conversation.name == "renamed again"


def test_a_copy_has_all_turns_and_its_own_life(collection: Collection) -> None:
    chat = TranscriptStore(collection.directory).load(saved(collection).id)
    grown = chat.add(Turn("user", "another", id="q2"))
    TranscriptStore(collection.directory).save(grown)
    copy = collection.duplicate(chat.id).conversation
    assert copy.turns == grown.turns and copy.id != chat.id and copy.title == "another (copy)"
    assert len(collection.chats()) == 2


def test_undo_brings_back_one_after_the_other(collection: Collection) -> None:
    paths = [TranscriptStore(collection.directory).save(saved(collection, f"chat {n}")).path for n in range(3)]
    keys = [collection.delete(path) for path in paths if path]
    assert collection.chats() == [] and len(collection.deleted()) == 3
    collection.restore(keys[2])
    assert collection.undo() == paths[1] and collection.undo() == paths[0]
    assert collection.undo() is None
    assert len(collection.chats()) == 3 and collection.deleted() == []


def test_an_export_goes_where_it_is_told_and_over_nothing(collection: Collection, tmp_path: Path) -> None:
    chat = saved(collection)
    first = collection.export(chat.id, "md", tmp_path)
    second = collection.export(chat.id, "md", tmp_path)
    assert second.name == f"{first.stem}-2.md" and first.read_bytes() == second.read_bytes()
    with pytest.raises(StoreError, match="already"):
        collection.export(chat.id, "html", first)
    collection.export(chat.id, "html", first, overwrite=True)
    assert first.read_bytes().startswith(b"<!DOCTYPE html>")
    with pytest.raises(StoreError) as caught:
        collection.export(chat.id, "md", tmp_path / "nowhere" / "x.md")
    assert caught.value.filename == str(tmp_path / "nowhere" / "x.md")


def test_an_import_restores_exactly_or_stands_beside_what_is_there(collection: Collection, tmp_path: Path) -> None:
    chat = saved(collection)
    file = collection.export(chat.id, "json", tmp_path / "x.json")
    assert not collection.take_in(file).new
    collection.delete(collection.find(chat.id))
    taken = collection.take_in(file)
    assert taken.new and taken.conversation == chat
    assert TranscriptStore(collection.directory).load(chat.id) == chat

    changed = TranscriptStore(collection.directory).load(chat.id).add(Turn("assistant", "hi", parent="q"))
    store = TranscriptStore(collection.directory)
    store.save(changed)
    before = store.load(chat.id)
    again = collection.take_in(file)
    assert again.new and again.conversation.id != chat.id and "copy" in again.note
    assert again.conversation.turns == chat.turns
    assert TranscriptStore(collection.directory).load(chat.id) == before


@pytest.mark.parametrize("id", ["../../evil", "", "x" * 100, "a/b", "*"])
def test_an_import_never_chooses_its_own_place(collection: Collection, tmp_path: Path, id: str) -> None:
    chat = replace(saved(collection), id="good", turns={}, chosen={}, draft="later")
    TranscriptStore(collection.directory).save(chat)
    file = collection.export("good", "json", tmp_path / "x.json")
    file.write_text(file.read_text().replace('"id": "good"', f'"id": "{id}"'))
    taken = collection.take_in(file)
    assert taken.path.parent == collection.directory
    assert taken.conversation.id not in (id, "good")


def test_an_empty_chat_is_not_imported(collection: Collection, tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    file.write_bytes(export(Conversation(), "json"))
    with pytest.raises(StoreError, match="nothing in this chat") as caught:
        collection.take_in(file)
    assert caught.value.filename == str(file) and collection.chats() == []


def test_a_damaged_chat_is_named_and_left(collection: Collection) -> None:
    collection.directory.mkdir(parents=True)
    broken = collection.directory / "broken.md"
    broken.write_text("no front matter")
    (summary,) = collection.chats()
    assert summary.problem
    with pytest.raises(StoreError, match="not a transcript") as caught:
        collection.rename(summary.id, "x")
    assert caught.value.filename == str(broken) and broken.read_text() == "no front matter"
