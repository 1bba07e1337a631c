"""Files named in a prompt."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from edge0_tui.writing import attachments
from edge0_tui.writing.attachments import (
    MOST,
    Attached,
    Refused,
    mention,
    mentions,
    missing,
    read,
    with_files,
)
from edge0_tui.writing.completion import path_prefix, paths
from edge0_tui.writing.file_blocks import FileBlock, split
from edge0_tui.writing.weighing import weigh


@pytest.fixture
def base(tmp_path: Path) -> Path:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_bytes(b"x = 1\r\ny = 2\r\n")
    (tmp_path / "two words.txt").write_text("hello\n")
    (tmp_path / ".hidden").write_text("secret\n")
    return tmp_path


def test_paths_that_are_there_are_found_and_other_words_left_alone(base: Path) -> None:
    text = 'me@src/a.py, @alice: see @src/a.py. (@src/a.py) and @"two words.txt", not @src or @angular/core'
    assert mentions(text, base) == ["src/a.py", "two words.txt"]
    assert missing(text, base) == ["angular/core"]
    assert mentions("@src/ is a folder", base) == ["src/"]


def test_what_is_sent_is_the_text_below_the_prompt_once(base: Path) -> None:
    sent, refused = with_files('Compare @src/a.py and @"two words.txt", mostly @src/a.py', base)
    parts = split(sent)
    assert refused == []
    assert [(part.name, part.text) for part in parts if isinstance(part, FileBlock)] == [
        ("src/a.py", "x = 1\ny = 2"),
        ("two words.txt", "hello"),
    ]
    assert with_files(sent, base) == (sent, []), "a message that comes back is not given its files again"


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("null.bin", b"a\x00b", "no text"),
        ("latin.txt", "naïve".encode("latin-1"), "no text"),
        ("empty.txt", b" \n", "empty"),
        ("big.txt", b"x" * 2000, "too large"),
        ("new\x1bline.txt", b"text", "control characters"),
    ],
)
def test_files_that_are_no_text_or_too_much_are_refused(base: Path, name: str, data: bytes, reason: str) -> None:
    (base / name).write_bytes(data)
    found = read(name, base, largest=1000)
    assert isinstance(found, Refused) and reason in found.reason
    assert "\x1b" not in str(found)


def test_a_pipe_a_folder_and_a_missing_file_are_refused_without_waiting(base: Path) -> None:
    os.mkfifo(base / "pipe")
    for name, reason in (
        ("pipe", "no ordinary file"),
        ("src", "folder"),
        ("gone", "no such file"),
        ("~nobody99/x", ""),
    ):
        found = read(name, base)
        assert isinstance(found, Refused) and reason in found.reason
    assert with_files("@pipe", base)[1] != []


def test_other_ways_of_writing_text_are_read(base: Path) -> None:
    (base / "wide.txt").write_text("grüße\n", encoding="utf-16")
    (base / "marked.txt").write_text("grüße\n", encoding="utf-8-sig")
    for name in ("wide.txt", "marked.txt"):
        found = read(name, base)
        assert isinstance(found, Attached) and found.text == "grüße\n"


def test_too_many_files_are_refused_by_the_first_too_many(base: Path) -> None:
    for number in range(MOST + 1):
        (base / f"f{number}").write_text("x")
    text = " ".join(f"@f{number}" for number in range(MOST + 1))
    assert [refused.name for refused in with_files(text, base)[1]] == [f"f{MOST}"]


def test_proposals_are_folders_and_files_that_begin_so(base: Path) -> None:
    assert path_prefix("look at @sr") == (8, "sr")
    assert path_prefix('look at @"two w') == (8, "two w")
    assert path_prefix("me@example") is None and path_prefix("@done ") is None
    assert [(item.label, item.insert) for item in paths("", base)] == [
        ("src/", "@src/"),
        ("two words.txt", '@"two words.txt" '),
    ]
    assert [item.insert for item in paths("src/", base)] == ["@src/a.py "]
    assert [item.label for item in paths(".h", base)] == [".hidden"]
    assert paths("gone/", base) == []
    assert mentions(mention("two words.txt"), base) == ["two words.txt"]


def test_what_goes_with_a_prompt_is_listed_with_its_problems(base: Path) -> None:
    (base / "null.bin").write_bytes(b"\x00")
    found = weigh("[pasted] @src/a.py @null.bin @src/b.py", [("pasted", "text")], base)
    assert [(each.name, bool(each.text), bool(each.problem)) for each in found] == [
        ("pasted", True, False),
        ("@src/a.py", True, False),
        ("@null.bin", False, True),
        ("@src/b.py", False, True),
    ]


def test_a_row_of_dots_without_end_costs_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.py").write_text("x")
    looked: list[str] = []

    def look(name: str, base: Path) -> bool:
        looked.append(name)
        return False

    monkeypatch.setattr(attachments, "_is_there", look)
    assert mentions("@a.py" + "." * 100_000, tmp_path) == []
    assert 0 < len(looked) < 100 and sum(map(len, looked)) < 10_000
    monkeypatch.undo()
    assert mentions("see @a.py).", tmp_path) == ["a.py"]
    assert mentions("@" + "b" * 100_000, tmp_path) == []
