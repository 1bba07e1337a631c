"""The rule for "answered correctly" is strict."""

from training.evalset import BARS, cases
from training.scoring import correct, f1

ANSWER = "Press esc. The reply stops at once and the text written so far is kept."


def test_the_reference_is_correct_whatever_its_case_and_marks() -> None:
    assert correct(ANSWER.upper().replace(".", "!"), ANSWER, ("esc",))


def test_one_wrong_word_is_forgiven_only_if_the_key_phrases_are_there() -> None:
    assert correct(ANSWER.replace("written", "typed"), ANSWER, ("esc", "kept"))
    assert not correct(ANSWER.replace("esc", "enter"), ANSWER, ("esc", "kept"))


def test_a_cut_or_empty_reply_is_wrong() -> None:
    assert not correct("Press esc.", ANSWER, ("esc",))
    assert not correct("", ANSWER, ("esc",))
    assert f1("", ANSWER) == 0.0


def test_the_evaluation_covers_every_set() -> None:
    assert {case.set for case in cases()} == set(BARS)
    assert len([c for c in cases() if c.set == "held-out foreign"]) >= 60
