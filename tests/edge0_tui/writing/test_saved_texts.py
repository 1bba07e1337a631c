"""Texts kept in a folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from edge0_tui.writing.saved_texts import LARGEST, SavedText, SavedTextError, SavedTexts


def test_a_folder_of_files_is_read_and_what_cannot_be_used_is_named(tmp_path: Path) -> None:
    (tmp_path / "Code Review.md").write_text("\ufeffLook.\r\nClosely.\n", encoding="utf-8")
    (tmp_path / "shell.txt").write_text("A command for {input}")
    (tmp_path / "shell.md").write_text("Another")
    (tmp_path / "ümlaut.md").write_text("x")
    (tmp_path / "binary.md").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "huge.md").write_bytes(b"x" * (LARGEST + 1))
    (tmp_path / "folder.md").mkdir()
    (tmp_path / "ignored.py").write_text("x")
    saved = SavedTexts(tmp_path)
    saved.read()
    assert saved.get("CODE-review") == SavedText("code-review", "Look.\nClosely.")
    assert saved.get("shell") == SavedText("shell", "Another")
    assert len(saved.texts) == 2
    for name in ("shell.txt", "ümlaut.md", "binary.md", "huge.md", "folder.md"):
        assert any(problem.startswith(f"{name}: ") for problem in saved.problems)


def test_a_missing_folder_is_empty_and_made_by_the_first_save(tmp_path: Path) -> None:
    saved = SavedTexts(tmp_path / "a" / "prompts")
    saved.read()
    assert saved.texts == {} and saved.problems == []
    assert saved.save("one", "Text\n\n").read_text() == "Text\n"
    assert saved.get("one") == SavedText("one", "Text")


@pytest.mark.parametrize(
    ("name", "text"), [("../up", "x"), ("", "x"), ("Ä", "x"), ("a/b", "x"), ("new", " \n"), ("new", "x" * 300_000)]
)
def test_bad_names_and_empty_texts_are_refused(tmp_path: Path, name: str, text: str) -> None:
    with pytest.raises(SavedTextError):
        SavedTexts(tmp_path / "prompts").save(name, text)
    assert not (tmp_path / "prompts").exists()


def test_nothing_is_written_over(tmp_path: Path) -> None:
    (tmp_path / "one.txt").write_text("mine")
    with pytest.raises(SavedTextError, match="there already"):
        SavedTexts(tmp_path).save("one", "other")
    assert (tmp_path / "one.txt").read_text() == "mine"
    assert [path.name for path in tmp_path.iterdir()] == ["one.txt"]


def test_what_follows_the_name_takes_its_place() -> None:
    assert SavedText("a", "Look at {input}, {input}.").filled("this") == "Look at this, this."
    assert SavedText("a", "Look.").filled("this") == "Look.\n\nthis"
    assert SavedText("a", "Look.").filled("") == "Look."
