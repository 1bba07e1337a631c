"""Folding: whatever is folded is sent whole."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from edge0_tui.writing.chips import Chips
from edge0_tui.writing.file_blocks import FileBlock, block, split

LONG = "\n".join(f"line {number}" for number in range(240))


def test_a_long_text_becomes_a_few_words_and_comes_back_whole() -> None:
    chips = Chips()
    label = chips.fold_pasted(LONG)
    assert label == "[pasted 240 lines]"
    assert chips.unfold(f"Why?\n{label}\nThanks") == f"Why?\n{LONG}\nThanks"
    assert chips.fold(f"Why?\n{LONG}\nThanks") == f"Why?\n{label}\nThanks"
    assert chips.fold_pasted("short") == "short"


def test_texts_of_one_length_have_different_words() -> None:
    chips = Chips()
    one, two = chips.fold_pasted(LONG), chips.fold_pasted(LONG.replace("line", "row"))
    assert (one, two) == ("[pasted 240 lines]", "[pasted 240 lines #2]")
    assert chips.unfold(two + one).startswith("row 0") and chips.fold_pasted(LONG) == one


def test_words_within_a_folded_text_stay_as_they_are() -> None:
    chips = Chips()
    label = chips.fold_pasted(LONG)
    tricky = f"{label}\n" * 20
    assert chips.unfold(chips.fold_pasted(tricky)) == tricky


@settings(max_examples=50)
@given(st.text(), st.text(alphabet="`\n a#").filter(str.strip), st.text())
def test_a_file_in_a_message_is_found_again_whatever_it_holds(before: str, text: str, after: str) -> None:
    placed = block("a b.py", text, 10)
    message = f"{before}\n\n{placed}\n\n{after}"
    parts = split(message)
    assert "".join(part if isinstance(part, str) else part.source for part in parts) == message
    files = [part for part in parts if isinstance(part, FileBlock)]
    if not before and "Attached file" not in after:
        assert [(file.name, file.text, file.language) for file in files] == [
            ("a b.py", text.removesuffix("\n"), "python")
        ]
    chips = Chips()
    assert chips.unfold(chips.fold(message)) == message


def test_a_message_with_a_file_comes_back_folded() -> None:
    chips = Chips()
    message = "Why?\n\n" + block("src/a.py", "x = 1\ny = 2\n", 12)
    assert chips.fold(message) == "Why?\n\n[file src/a.py, 2 lines]"
