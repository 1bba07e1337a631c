"""The corpus is well formed, and nothing held out is trained on."""

import random

import pytest

from training.corpus import dialogue, foreign
from training.corpus.expand import expand, fill, normalise
from training.corpus.load import foreign_held, held_phrases, lines, questions, read


def test_every_question_has_enough_phrasings() -> None:
    assert 150 <= len(questions()) <= 250
    for q in questions():
        assert len(q.train) >= 12, q.id
        assert len(q.held) >= 2, q.id


def test_answers_are_short_and_contain_what_they_must() -> None:
    for q in questions():
        assert len(q.answer.split()) <= 45, q.id
        assert q.must, q.id
        for phrase in q.must:
            assert phrase.lower() in q.answer.lower(), (q.id, phrase)
    for phrase in foreign.must():
        assert phrase in foreign.answer()


def test_questions_have_different_ids_and_answers() -> None:
    assert len({q.id for q in questions()}) == len(questions())
    assert len({q.answer for q in questions()}) == len(questions())


def test_no_phrasing_has_two_answers() -> None:
    seen: dict[str, str] = {}
    for q in questions():
        for text in (*q.train, *q.held):
            assert seen.setdefault(normalise(text), q.id) == q.id, text


def test_the_allocator_peak_is_asked() -> None:
    (peak,) = [q for q in questions() if q.id == "allocator-peak"]
    assert peak.main == "what is the allocator peak"


def test_no_held_out_phrasing_is_a_training_phrasing() -> None:
    trained = {normalise(text) for q in questions() for text in q.train}
    trained |= {normalise(text) for text in foreign.written()}
    trained |= {normalise(text) for f in read("dialogues")["follow"] for text in expand(f["ask"])}
    assert not trained & held_phrases()


def test_held_out_foreign_questions_are_many_and_new() -> None:
    held = {normalise(text) for text in foreign_held()}
    assert len(held) >= 60
    assert not held & {normalise(text) for text in foreign.written()}


@pytest.mark.parametrize("seed", range(4))
def test_drawn_conversations_never_show_what_is_held_out(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(3000):
        _, turns = dialogue.draw(rng, rng.randint(1, 4))
        assert not {normalise(turn.ask) for turn in turns} & held_phrases()


def test_drawing_is_seeded() -> None:
    def first(seed: int) -> list[str]:
        rng = random.Random(seed)
        return [dialogue.draw(rng, 2)[1][0].ask for _ in range(50)]

    assert first(3) == first(3)
    assert first(3) != first(4)


def test_follow_ups_name_real_questions() -> None:
    ids = {q.id for q in questions()}
    for entry in read("dialogues")["follow"]:
        assert entry["say"] in ids
        assert entry["after"] in ids | {"foreign"}


def test_templates_of_foreign_questions_fill_completely() -> None:
    rng = random.Random(0)
    for _ in range(500):
        text = foreign.draw(rng)
        assert not set(text) & set("{}()|"), text


def test_expand_and_fill() -> None:
    assert expand("(a|b) c( d|)") == ["a c d", "a c", "b c d", "b c"]
    assert expand("x (a|(b|c) d)") == ["x a", "x b d", "x c d"]
    assert fill("(a) {n}", {"n": ["b"]}, random.Random(0)) == "a b"
    assert lines(" a \n\n b") == ["a", "b"]
    with pytest.raises(ValueError, match="unclosed"):
        expand("(a|b")
