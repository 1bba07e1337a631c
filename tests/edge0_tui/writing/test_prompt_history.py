"""Earlier prompts: the file, and walking through them."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from edge0_tui.writing.prompt_history import LONGEST, MOST, HistoryWalk, PromptHistory


def test_two_instances_append_and_read_what_both_wrote(tmp_path: Path) -> None:
    path = tmp_path / "data" / "history.jsonl"
    one, two = PromptHistory(path), PromptHistory(path)
    assert one.read() == []
    one.append("a\nb")
    two.append("\ud800 half")
    one.append("x" * (LONGEST + 1))
    assert one.read() == ["a\nb", "\ud800 half"]
    assert path.stat().st_mode & 0o077 == 0


def test_foreign_lines_are_passed_over_and_a_long_file_is_shortened(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    path.write_bytes(b'{"a": 1}\n\xff\n"  "\n' + b'"old"\n' * (2 * MOST) + b'"new"')
    history = PromptHistory(path)
    assert len(history.read()) == MOST and history.read()[-1] == "new"
    assert path.read_bytes().count(b"\n") == MOST
    history.append("newer")
    assert history.read()[-2:] == ["new", "newer"]


def test_a_changed_entry_and_the_draft_are_found_again() -> None:
    walk = HistoryWalk(["one", "two"])
    assert walk.step(-1, "draft") == "two"
    assert walk.step(-1, "two, changed") == "one"
    assert walk.step(-1, "one") is None
    walk.put_before(["zero"])
    assert walk.step(-1, "one") == "zero"
    assert [walk.step(1, text) for text in ("zero", "one", "two, changed")] == ["one", "two, changed", "draft"]
    assert walk.step(1, "draft") is None
    walk.add("draft")
    assert walk.step(-1, "") == "draft" and walk.step(-1, "draft") == "two"


@settings(max_examples=50)
@given(st.lists(st.sampled_from("abc"), max_size=6), st.lists(st.sampled_from([-1, 1]), max_size=20))
def test_walking_to_the_end_always_brings_the_draft_back(entries: list[str], steps: list[int]) -> None:
    walk, text = HistoryWalk(entries), "draft"
    for step in [*steps, *[1] * len(entries)]:
        text = text if (there := walk.step(step, text)) is None else there
    assert text == "draft" and walk.entries == entries
