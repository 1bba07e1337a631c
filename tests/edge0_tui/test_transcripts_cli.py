"""`edge0-tui transcripts`: what is printed, what it ends with, and that nothing is lost."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from edge0_tui.chat.conversation import Conversation
from edge0_tui.chat.store import TranscriptStore
from edge0_tui.chat.turn import Turn
from edge0_tui.cli import main
from edge0_tui.paths import find_paths

Out = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TranscriptStore:
    monkeypatch.setenv("EDGE0_HOME", str(tmp_path / "home"))
    return TranscriptStore(find_paths().transcripts)


def code_of(*arguments: str) -> int:
    try:
        return main(["transcripts", *arguments])
    except SystemExit as left:
        assert isinstance(left.code, int)
        return left.code


def saved(store: TranscriptStore, id: str, question: str, **more: bool) -> Conversation:
    chat = Conversation(id=id).add(Turn("user", question, id="q"))
    chat = replace(chat.add(Turn("assistant", "Die Größe, [b]always[/b].", "", "q")), **more)  # type: ignore[arg-type]
    return store.save(chat).conversation


def test_listing(store: TranscriptStore, capsys: Out) -> None:
    assert code_of("ls") == 0
    assert "No transcripts" in capsys.readouterr().err
    saved(store, "aa11", "First", pinned=True)
    saved(store, "bb22", "Second: talk")
    saved(store, "cc33", "Third", archived=True)
    (store.directory / "notes.md").write_text("notes")
    assert code_of("ls", "--json") == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["id"] for row in rows][:1] == ["aa11"] and {row["id"] for row in rows} == {"aa11", "bb22", "notes"}
    assert {row["id"]: row["turns"] for row in rows}["bb22"] == 2
    assert "front matter" in next(row["problem"] for row in rows if row["id"] == "notes")
    assert code_of("ls", "--archived") == 0
    out = capsys.readouterr().out
    assert "cc33" in out and "aa11" not in out


def test_showing(store: TranscriptStore, capsys: Out) -> None:
    saved(store, "aa11", "First")
    saved(store, "aa22", "Second")
    assert code_of("show", "aa1") == 0
    assert "## You\n\nFirst\n" in capsys.readouterr().out
    assert code_of("show", "aa") == 4
    assert "fits 2 chats" in capsys.readouterr().err
    for wanted in ("zz", "../../etc/passwd", ""):
        assert code_of("show", wanted) == 4
    assert "there is no chat" in capsys.readouterr().err


def test_searching(store: TranscriptStore, capsys: Out) -> None:
    saved(store, "aa11", "What about it?")
    saved(store, "bb22", "Size", archived=True)
    assert code_of("search", "GROSSE", "what") == 0
    out = capsys.readouterr().out
    assert "aa11" in out and "Die Größe, [b]always[/b]." in out and "bb22" not in out
    assert code_of("search", "grosse", "--archived", "--json") == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {line["id"] for line in lines} == {"aa11", "bb22"}
    start, end = lines[0]["spans"][0]
    assert lines[0]["snippet"][start:end] == "Größe"
    assert code_of("search", "nowhere") == 0
    assert "No conversation" in capsys.readouterr().err
    assert code_of("search", " ") == 2
    assert code_of("search") == 2


def test_exporting_and_importing(store: TranscriptStore, tmp_path: Path, capsys: Out) -> None:
    chat = saved(store, "aa11", "First")
    assert code_of("export", "aa11") == 0
    assert capsys.readouterr().out.startswith('---\nid: "aa11"\n')
    for format in ("md", "json", "html"):
        target = tmp_path / f"out.{format}"
        assert code_of("export", "aa11", "-o", str(target)) == 0
        assert code_of("export", "aa11", "-o", str(target)) == 4
        assert "already" in capsys.readouterr().err
        assert code_of("export", "aa11", "-o", str(target), "--force", "--json") == 0
        assert json.loads(capsys.readouterr().out) == {"path": str(target), "format": format}
        assert code_of("import", str(target)) == 0
        assert "here already" in capsys.readouterr().err
        assert code_of("rm", "aa11") == 0
        assert code_of("import", str(target), "--json") == 0
        assert json.loads(capsys.readouterr().out)["new"] is True
        assert TranscriptStore(store.directory).load("aa11") == chat
    assert code_of("export", "aa11", "-o", str(tmp_path / "x.pdf")) == 2
    assert code_of("export", "aa11", "--json") == 2
    assert code_of("export", "aa11", "--format", "html", "-o", str(tmp_path)) == 0
    assert len(list(tmp_path.glob("*aa11.html"))) == 1


def test_what_cannot_be_imported_is_named_and_keeps_nothing_else_out(
    store: TranscriptStore, tmp_path: Path, capsys: Out
) -> None:
    saved(store, "aa11", "First")
    assert code_of("export", "aa11", "-o", str(tmp_path / "good.md")) == 0
    assert code_of("rm", "aa11") == 0
    (tmp_path / "bad.json").write_text("{}")
    capsys.readouterr()
    assert code_of("import", str(tmp_path / "bad.json"), str(tmp_path / "none.md"), str(tmp_path / "good.md")) == 4
    err = capsys.readouterr().err
    assert "bad.json: cannot be imported" in err and "none.md: there is no such file" in err
    assert TranscriptStore(store.directory).load("aa11").title == "First"


def test_removing_and_restoring(store: TranscriptStore, capsys: Out) -> None:
    chat = saved(store, "aa11", "First")
    saved(store, "bb22", "Second")
    assert code_of("rm", "aa11", "nothing") == 4
    assert len(store.list()) == 2, "a mistyped id must not remove the others"
    capsys.readouterr()
    assert code_of("rm", "aa11", "aa1", "--json") == 0
    out, err = capsys.readouterr()
    (row,) = json.loads(out)
    assert "30 days" in err and row["key"] in err
    assert [summary.id for summary in store.list()] == ["bb22"]
    assert code_of("ls", "--deleted", "--json") == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["id"], row["title"]) == ("aa11", "First")
    assert code_of("restore", "nothing") == 4
    assert code_of("restore", row["key"]) == 0
    assert TranscriptStore(store.directory).load("aa11") == chat
    assert code_of("ls", "--deleted") == 0
    assert "empty" in capsys.readouterr().err
    assert code_of("ls", "--deleted", "--archived") == 2
