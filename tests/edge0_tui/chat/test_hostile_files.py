"""Files that somebody edited, or made to do harm: one of them never keeps the others from being shown."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from edge0_tui.chat import codec, sidecar
from edge0_tui.chat.conversation import Conversation
from edge0_tui.chat.errors import FormatError, StoreError
from edge0_tui.chat.merge import merge
from edge0_tui.chat.query import Query
from edge0_tui.chat.store import TranscriptStore
from edge0_tui.chat.trash import Trash
from edge0_tui.chat.turn import Attribution, Turn
from edge0_tui.collection import Collection
from edge0_tui.exchange.formats import export
from edge0_tui.paths import Paths

HEAD: dict[str, str] = {
    "id": '"abc123"',
    "title": '"Bad"',
    "created": '"2026-01-01T00:00:00+00:00"',
    "updated": '"2026-01-01T00:00:00+00:00"',
    "turns": "1",
}
TURN = '# Bad\n\n<!-- turn {"id": "a", "role": "user", "created": "2026-01-01"} -->\n## You\n\nfind me\n\n'


@pytest.fixture
def collection(tmp_path: Path) -> Iterator[Collection]:
    opened = Collection(Paths(tmp_path, tmp_path / "settings.toml", tmp_path, tmp_path))
    yield opened
    opened.close()


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("turns", "1e999"),
        ("turns", "9" * 30),
        ("turns", "-" + "9" * 30),
        ("title", "[" * 8000),
        ("title", '"' + "long " * 5000 + '"'),
        ("updated", '"0001-01-01T00:00:00+14:00"'),
        ("created", '"9999-12-31T23:59:59-14:00"'),
    ],
)
def test_a_strange_head_is_one_line_of_the_list(collection: Collection, key: str, value: str) -> None:
    good = TranscriptStore(collection.directory).save(Conversation().add(Turn("user", "find me, too")))
    lines = "".join(f"{name}: {text}\n" for name, text in {**HEAD, key: value}.items())
    bad = collection.directory / "bad.md"
    bad.write_text(f"---\n{lines}---\n\n{TURN}")
    for _ in range(2):  # as read, and as the index knows it
        assert {chat.path for chat in collection.chats()} == {good.path, bad}
    assert good.path in {hit.summary.path for hit in collection.search(Query.parse("find"))}
    assert TranscriptStore(collection.directory).load(good.conversation.id) == good.conversation
    try:
        loaded = collection.open("bad").conversation
        for format in ("md", "json", "html"):
            collection.export("bad", format, collection.directory / f"out.{format}x")
        assert collection.rename("bad", "new").conversation.turns == loaded.turns
    except StoreError as error:
        assert "bad.md" in str(error.filename)
    collection.delete(bad)
    assert len(collection.deleted()) == 1 and collection.undo() == bad


def test_a_chat_with_names_without_end_is_listed_as_any_other(collection: Collection, tmp_path: Path) -> None:
    said = Attribution(model="\x01" * 9000, adapter="b" * 9000)
    turn = Turn("assistant", "hi", attribution=said)
    path = tmp_path / "given.json"
    path.write_bytes(export(Conversation(name="n" * 30_000).add(turn), "json"))
    taken = collection.take_in(path)
    (chat,) = collection.chats()
    assert (chat.id, chat.problem, len(chat.title) <= 400) == (taken.conversation.id, "", True)
    assert collection.open(chat.id).conversation.turns == {turn.id: turn}


def test_an_export_whose_end_is_no_text_is_refused_with_its_name(collection: Collection, tmp_path: Path) -> None:
    path = tmp_path / "given.md"
    path.write_bytes(export(Conversation(name="given").add(Turn("user", "hi")), "md").replace(b'"hi"', b'"\xff"'))
    with pytest.raises(StoreError, match="damaged"):
        collection.take_in(path)


@pytest.mark.parametrize("chosen", [[[None, ["a"]]], [[None, {}]], [[None, None]], [[1, "a"]], [["a", 1]], 5])
def test_what_was_chosen_is_a_turn(chosen: Any) -> None:
    body = codec.to_json(Conversation().add(Turn("user", "hi", id="a")))
    with pytest.raises(FormatError):
        codec.from_json({**body, "chosen": chosen})


def test_a_sidecar_with_a_strange_choice_is_damaged_and_the_markdown_is_read(collection: Collection) -> None:
    saved = TranscriptStore(collection.directory).save(Conversation().add(Turn("user", "hi", id="a")))
    assert saved.path is not None
    beside = sidecar.path_of(saved.path)
    body = json.loads(beside.read_text())
    body["conversation"]["chosen"] = [[None, ["a"]]]
    beside.write_text(json.dumps(body))
    loaded = TranscriptStore(collection.directory).open(saved.conversation.id)
    assert [turn.text for turn in loaded.conversation.path] == ["hi"] and "damaged" in loaded.note


def test_turns_that_follow_each_other_in_a_circle_are_merged() -> None:
    base = Conversation()
    ours = base.add(Turn("user", "a", id="a")).add(Turn("user", "b, as long as it is", id="b", parent="a"))
    theirs = base.add(Turn("user", "b", id="b")).add(Turn("user", "a, as long as it is", id="a", parent="b"))
    merged = merge(ours, theirs)
    assert codec.from_json(codec.to_json(merged)) == merged
    assert {turn.parent for turn in merged.turns.values()} == {None, "a"}
    other = replace(theirs, chosen={})
    assert codec.from_json(codec.to_json(merge(other, ours))).turns.keys() == {"a", "b"}


def test_a_folder_in_the_trash_that_is_named_like_a_date_but_is_none(tmp_path: Path) -> None:
    trash = Trash(tmp_path)
    odd = trash.folder / "20269999T999999.000000Z-abcdef"
    odd.mkdir(parents=True)
    (odd / "mine.md").write_text("mine")
    assert trash.list() == [] and trash.purge() == 0 and odd.is_dir()
