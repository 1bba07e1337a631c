from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

import pytest

from edge0_tui.chat import files, sidecar
from edge0_tui.chat.conversation import Conversation
from edge0_tui.chat.errors import StoreError
from edge0_tui.chat.store import TranscriptStore
from edge0_tui.chat.turn import Attribution, Turn


def chat(text: str = "What is the allocator peak?") -> Conversation:
    return Conversation().add(Turn("user", text, id="q"))


def answered(conversation: Conversation, text: str, id: str = "a", reason: str = "stop") -> Conversation:
    turn = Turn("assistant", text, "", "q", Attribution(model="nano", finish_reason=reason), id)
    return conversation.put(turn) if id in conversation.turns else conversation.add(turn)


def path_of(store: TranscriptStore) -> Path:
    (path,) = store.directory.glob("*.md")
    return path


@pytest.fixture
def store(tmp_path: Path) -> TranscriptStore:
    return TranscriptStore(tmp_path / "chats")


def test_what_is_saved_is_listed_and_loaded(store: TranscriptStore) -> None:
    conversation = answered(chat(), "The highest sum.")
    store.save(conversation)
    again = TranscriptStore(store.directory)
    (summary,) = again.list()
    assert (summary.id, summary.title, summary.model) == (conversation.id, "What is the allocator peak?", "nano")
    assert (summary.turns, summary.problem) == (2, "")
    assert again.load(conversation.id) == conversation


def test_the_file_name_tells_date_and_words(store: TranscriptStore) -> None:
    saved = store.save(chat("../../etc/passwd: Ünïcode & 漢字?"))
    assert saved.path is not None
    assert saved.path.parent == store.directory
    day = f"{saved.conversation.created.astimezone():%Y-%m-%d}"
    assert saved.path.name == f"{day}-etc-passwd-unicode-{saved.conversation.id[:6]}.md"


def test_nothing_said_makes_no_file_and_a_draft_does(store: TranscriptStore) -> None:
    assert store.save(Conversation()).path is None
    assert store.list() == []
    conversation = replace(Conversation(), draft="half a que")
    store.save(conversation)
    assert store.load(conversation.id).draft == "half a que"


def test_saving_again_keeps_the_file(store: TranscriptStore) -> None:
    conversation = chat()
    first = store.save(conversation).path
    assert store.save(answered(conversation, "Because.")).path == first
    assert len(list(store.directory.glob("*.md"))) == 1


def test_a_hand_edited_file_is_left_and_the_chat_goes_on_elsewhere(store: TranscriptStore) -> None:
    conversation = chat()
    path = store.save(conversation).path
    assert path is not None
    edited = path.read_bytes() + b"my own remark\n"
    path.write_bytes(edited)

    again = TranscriptStore(store.directory)
    assert "edited by hand" in again.open(conversation.id).note
    saved = again.save(answered(conversation, "Because."))
    assert path.name in saved.note and saved.path is not None and saved.path.name in saved.note
    assert path.read_bytes() == edited
    assert again.save(answered(saved.conversation, "Because, and so on.")).note == ""

    first, second = TranscriptStore(store.directory).list()
    assert (first.id, first.path) == (conversation.id, saved.path)
    assert second.path == path and second.problem


def test_an_edit_while_the_chat_is_open_is_seen_at_the_next_save(store: TranscriptStore) -> None:
    conversation = chat()
    path = store.save(conversation).path
    assert path is not None
    path.write_text("mine now")
    saved = store.save(answered(conversation, "Because."))
    assert path.read_text() == "mine now"
    assert saved.path != path and saved.note


def test_damaged_files_are_reported_left_and_hide_no_other_chat(store: TranscriptStore) -> None:
    good = chat()
    store.save(good)
    (store.directory / "notes.md").write_bytes(b"\xff\x00 no front matter")
    (store.directory / "dir.md").mkdir()
    summaries = {summary.id: summary for summary in store.list()}
    assert set(summaries) == {good.id, "notes", "dir"}
    assert "no front matter" in summaries["notes"].problem
    with pytest.raises(StoreError, match="not a transcript") as caught:
        store.load("notes")
    assert caught.value.filename == str(store.directory / "notes.md")


def test_without_its_sidecar_the_markdown_is_read_and_left(store: TranscriptStore) -> None:
    conversation = answered(chat(), "Text.")
    path = store.save(conversation).path
    assert path is not None
    sidecar.path_of(path).unlink()
    before = path.read_bytes()

    again = TranscriptStore(store.directory)
    loaded = again.open(conversation.id)
    assert [turn.text for turn in loaded.conversation.path] == ["What is the allocator peak?", "Text."]
    assert "json is missing" in loaded.note
    assert again.save(loaded.conversation).path != path
    assert path.read_bytes() == before


def test_a_damaged_sidecar_is_left_too(store: TranscriptStore) -> None:
    conversation = chat()
    path = store.save(conversation).path
    assert path is not None
    sidecar.path_of(path).write_text("{")
    again = TranscriptStore(store.directory)
    assert "damaged" in again.open(conversation.id).note
    again.save(conversation)
    assert sidecar.path_of(path).read_text() == "{"


def test_two_instances_keep_what_both_said(store: TranscriptStore) -> None:
    conversation = chat()
    store.save(conversation)
    other = TranscriptStore(store.directory)
    theirs = answered(other.load(conversation.id), "from the other", "a1")
    other.save(theirs)
    ours = answered(conversation, "from here", "a2")
    saved = store.save(ours)
    assert saved.note == ""
    assert {turn.text for turn in saved.conversation.siblings("a2")} == {"from the other", "from here"}
    assert saved.conversation.last == ours.last

    other.save(answered(theirs, "from the other, longer", "a1"))
    final = TranscriptStore(store.directory).load(conversation.id)
    assert {turn.text for turn in final.siblings("a2")} == {"from the other, longer", "from here"}
    assert len(list(store.directory.glob("*.md"))) == 1


def test_a_chat_that_was_not_loaded_here_is_merged_into_its_file(store: TranscriptStore) -> None:
    conversation = chat()
    store.save(answered(conversation, "from the other", "a1"))
    saved = TranscriptStore(store.directory).save(answered(conversation, "from here", "a2"))
    assert saved.path == path_of(store)
    assert {turn.text for turn in saved.conversation.siblings("a2")} == {"from the other", "from here"}


def test_a_draft_gets_its_name_with_the_first_question_and_goes_when_it_is_emptied(store: TranscriptStore) -> None:
    draft = replace(Conversation(), draft="What is")
    first = store.save(draft).path
    assert first is not None and [summary.title for summary in store.list()] == ["What is"]
    asked = replace(draft, draft="").add(Turn("user", "What is the peak?"))
    path = store.save(asked).path
    assert path is not None and "what-is-the-peak" in path.name
    assert sorted(store.directory.glob("*.*")) == sorted([path, sidecar.path_of(path), store.directory / ".lock"])

    other = replace(Conversation(), draft="never sent")
    store.save(other)
    assert store.save(replace(other, draft="")).path is None
    assert [summary.id for summary in store.list()] == [asked.id]


def test_a_draft_edited_by_hand_or_written_on_elsewhere_is_not_taken_away(store: TranscriptStore) -> None:
    draft = replace(Conversation(), draft="What is")
    path = store.save(draft).path
    assert path is not None
    other = TranscriptStore(store.directory)
    other.save(replace(other.load(draft.id), draft="What is this?"))
    store.save(replace(draft, draft=""))
    assert TranscriptStore(store.directory).load(draft.id).draft == "What is this?"
    path.write_text("mine")
    store.save(replace(draft, draft=""))
    assert path.read_text() == "mine"


def test_of_name_and_marks_the_newer_ones_stay(store: TranscriptStore) -> None:
    conversation = chat()
    store.save(conversation)
    other = TranscriptStore(store.directory)
    other.save(replace(other.load(conversation.id), name="theirs", archived=True))
    saved = store.save(replace(answered(conversation, "hi"), pinned=True)).conversation
    assert (saved.name, saved.archived, saved.pinned) == ("theirs", True, True)
    other.save(replace(other.load(conversation.id), name="theirs again"))
    assert store.save(replace(saved, name="ours")).conversation.name == "ours"


def test_a_chat_is_opened_by_the_beginning_of_its_id_or_name(store: TranscriptStore) -> None:
    first, second = replace(chat("one"), id="abc111"), replace(chat("two"), id="abc222")
    path = store.save(first).path
    store.save(second)
    assert path is not None
    for wanted in ("abc1", "abc111", path.stem):
        assert store.open(wanted).conversation.id == "abc111"
    with pytest.raises(StoreError, match="fits 2 chats"):
        store.open("abc")
    for wanted in ("", "xyz", "../transcripts", "*", "a[b"):
        with pytest.raises(StoreError, match="there is no chat"):
            store.open(wanted)


def test_opening_by_id_looks_at_no_other_chat(store: TranscriptStore, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = chat("wanted")
    for conversation in (chat("one"), wanted, chat("two")):
        store.save(conversation)
    opened: list[str] = []
    real: Callable[..., IO[Any]] = Path.open

    def counted(path: Path, *args: Any) -> IO[Any]:
        opened.append(path.name)
        return real(path, *args)

    monkeypatch.setattr(Path, "open", counted)
    assert TranscriptStore(store.directory).load(wanted.id) == wanted
    assert all("wanted" in name for name in opened)


TALKING = """
import sys
from pathlib import Path
from edge0_tui.chat.store import TranscriptStore
from edge0_tui.chat.turn import Turn
store = TranscriptStore(Path(sys.argv[1]))
conversation = store.load(sys.argv[2])
for number in range(15):
    turn = Turn("user", f"{sys.argv[3]} {number}", parent=conversation.path[-1].id)
    conversation = store.save(conversation.add(turn)).conversation
"""


def test_two_processes_that_write_at_once_lose_nothing_of_each_other(store: TranscriptStore) -> None:
    conversation = chat()
    store.save(conversation)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", TALKING, str(store.directory), conversation.id]
    both = [subprocess.Popen([*command, name], env=environment) for name in ("one", "two")]
    assert [process.wait(30) for process in both] == [0, 0]
    loaded = TranscriptStore(store.directory).open(conversation.id)
    said = {turn.text for turn in loaded.conversation.turns.values()}
    assert loaded.note == "" and said >= {f"{name} {number}" for name in ("one", "two") for number in range(15)}


def test_two_chats_made_at_once_get_two_files(store: TranscriptStore) -> None:
    first, second = chat(), chat()
    twin = replace(second, id=first.id[:6] + second.id[6:])
    paths = {store.save(first).path, TranscriptStore(store.directory).save(twin).path}
    assert len(paths) == 2


@pytest.fixture
def read_only(tmp_path: Path) -> Iterator[Path]:
    """A directory that cannot be written, also not by root."""
    directory = tmp_path / "file"
    directory.write_text("in the way")
    yield directory / "chats"


def test_a_directory_that_cannot_be_written_is_named(read_only: Path) -> None:
    store = TranscriptStore(read_only)
    with pytest.raises(StoreError) as caught:
        store.save(chat())
    assert caught.value.filename == str(read_only)


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_a_read_only_directory_is_named(store: TranscriptStore) -> None:
    conversation = chat()
    store.save(conversation)
    store.directory.chmod(0o500)
    try:
        with pytest.raises(StoreError) as caught:
            store.save(answered(conversation, "more"))
    finally:
        store.directory.chmod(0o700)
    assert caught.value.errno == errno.EACCES
    assert store.load(conversation.id) == conversation


class Full:
    """A disk with room for `left` more bytes."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, left: int) -> None:
        self.left = left
        real = Path.open

        def opened(path: Path, mode: str = "r", *args: Any, **kwargs: Any) -> IO[Any]:
            file = real(path, mode, *args, **kwargs)
            return Bounded(file, self) if "w" in mode else file  # type: ignore[return-value]

        monkeypatch.setattr(Path, "open", opened)


class Bounded:
    def __init__(self, file: IO[bytes], disk: Full) -> None:
        self._file, self._disk = file, disk

    def __enter__(self) -> Bounded:
        return self

    def __exit__(self, *exc: object) -> None:
        self._file.close()

    def write(self, data: bytes) -> int:
        if len(data) > self._disk.left:
            self._file.write(data[: self._disk.left])
            raise OSError(errno.ENOSPC, "No space left on device")
        self._disk.left -= len(data)
        return self._file.write(data)

    def flush(self) -> None:
        self._file.flush()

    def fileno(self) -> int:
        return self._file.fileno()


@pytest.mark.parametrize("left", [0, 300, 2000])
def test_a_full_disk_is_named_and_what_was_saved_stays(
    store: TranscriptStore, monkeypatch: pytest.MonkeyPatch, left: int
) -> None:
    conversation = answered(chat(), "short")
    store.save(conversation)
    longer = answered(conversation, "x" * 1000)
    with monkeypatch.context() as patched:
        Full(patched, left)
        with pytest.raises(StoreError, match="No space left") as caught:
            store.save(longer)
    assert Path(str(caught.value.filename)).parent == store.directory
    assert not list(store.directory.glob("*.part"))

    kept = TranscriptStore(store.directory).open(conversation.id)
    assert kept.conversation in (conversation, replace(longer, updated=kept.conversation.updated))
    assert kept.note == ""
    saved = store.save(longer)
    assert (saved.path, saved.note) == (path_of(store), "")


class Killed(BaseException):
    """Ends a save where it stands; nothing but the operating system cleans up."""


@pytest.mark.parametrize("steps", range(7))
def test_killed_at_any_step_of_a_save_leaves_the_old_or_the_new_text(
    store: TranscriptStore, monkeypatch: pytest.MonkeyPatch, steps: int
) -> None:
    conversation = chat()
    store.save(conversation)
    left = steps

    def step(real: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*args: Any) -> Any:
            nonlocal left
            if left == 0:
                raise Killed
            left -= 1
            return real(*args)

        return counted

    ended = True
    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", step(os.fsync))
        patched.setattr(Path, "replace", step(Path.replace))
        try:
            store.save(answered(conversation, "partial answer", reason="interrupted"))
        except Killed:
            ended = False
    assert ended == (steps == 6)

    again = TranscriptStore(store.directory)
    loaded = again.open(conversation.id)
    assert loaded.note == ""
    assert [turn.text for turn in loaded.conversation.path[1:]] in ([], ["partial answer"])
    assert all(not turn.finished for turn in loaded.conversation.path[1:])
    assert again.save(answered(loaded.conversation, "whole")).note == ""


AUTOSAVING = """
import sys
from pathlib import Path
from edge0_tui.chat.store import TranscriptStore
from tests.edge0_tui.chat.test_store import answered
store = TranscriptStore(Path(sys.argv[1]))
conversation = store.load(sys.argv[2])
for number in range(1, 1_000_000):
    conversation = answered(conversation, "word " * number, reason="interrupted")
    store.save(conversation)
    print(number, flush=True)
"""


def test_after_kill_9_everything_of_the_last_save_is_there(store: TranscriptStore) -> None:
    conversation = chat()
    store.save(conversation)
    command = [sys.executable, "-c", AUTOSAVING, str(store.directory), conversation.id]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if int(line) >= 5:
                break
        process.kill()
        told = [5, *map(int, process.stdout.read().split())]
    loaded = TranscriptStore(store.directory).open(conversation.id)
    answer = loaded.conversation.path[-1]
    assert loaded.note == ""
    assert len(answer.text.split()) >= told[-1]
    assert not answer.finished


def test_killed_in_the_very_first_save_the_chat_is_listed(
    store: TranscriptStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    conversation = chat()
    real = files.write

    def write(path: Path, data: bytes) -> None:
        if path.suffix == ".md":
            raise StoreError(errno.EIO, "gone", str(path))
        real(path, data)

    with monkeypatch.context() as patched:
        patched.setattr(files, "write", write)
        with pytest.raises(StoreError):
            store.save(conversation)
    again = TranscriptStore(store.directory)
    assert [summary.id for summary in again.list()] == [conversation.id]
    assert again.load(conversation.id) == conversation
    again.save(conversation)
    assert path_of(again).is_file()


def test_a_chat_whose_markdown_was_deleted_stays_deleted(store: TranscriptStore) -> None:
    conversation = chat()
    store.save(conversation)
    store.save(answered(conversation, "text"))
    path_of(store).unlink()
    assert TranscriptStore(store.directory).list() == []


def test_a_lock_that_nobody_lets_go_is_an_error_that_names_it(tmp_path: Path) -> None:
    with (
        files.lock(tmp_path),
        pytest.raises(StoreError, match="another instance") as caught,
        files.lock(tmp_path, patience=0.02),
    ):
        pass
    assert caught.value.filename == str(tmp_path / ".lock")
