from __future__ import annotations

import pytest
from hypothesis import given

from edge0_tui.chat.conversation import Conversation, derived_title
from edge0_tui.chat.turn import Turn
from engine.protocol import Message
from tests.edge0_tui.chat.trees import conversations, relaxed


def talk() -> Conversation:
    """q1 → a1, and a second answer a2 to the same question, followed by q2."""
    chat = Conversation()
    for turn in (
        Turn("user", "first?", id="q1"),
        Turn("assistant", "one", "hm", "q1", id="a1"),
        Turn("assistant", "two", "", "q1", id="a2"),
        Turn("user", "second?", "", "a2", id="q2"),
    ):
        chat = chat.add(turn)
    return chat


def ids(turns: list[Turn]) -> list[str]:
    return [turn.id for turn in turns]


def test_path_follows_what_was_added_last() -> None:
    assert ids(talk().path) == ["q1", "a2", "q2"]


def test_going_back_to_a_branch_finds_it_as_far_as_it_was_followed() -> None:
    elsewhere = talk().show("a1")
    assert ids(elsewhere.path) == ["q1", "a1"]
    assert ids(elsewhere.show("a2").path) == ["q1", "a2", "q2"]


def test_asking_again_keeps_the_old_answer_as_a_sibling() -> None:
    assert ids(talk().siblings("a2")) == ["a1", "a2"]
    edited = talk().add(Turn("user", "other?", id="q3"))
    assert ids(edited.siblings("q3")) == ["q1", "q3"]
    assert ids(edited.path) == ["q3"]


def test_messages_are_the_path_with_the_system_prompt_and_without_empty_answers() -> None:
    chat = Conversation(system="Be short.")
    chat = chat.add(Turn("user", "hi", id="q")).add(Turn("assistant", "", "", "q", id="a"))
    assert chat.messages() == [Message("system", "Be short."), Message("user", "hi")]
    grown = chat.put(Turn("assistant", "hello", "greet", "q", id="a"))
    assert grown.messages()[-1] == Message("assistant", "hello", "greet")


def test_a_fork_has_the_turns_up_to_there_and_its_own_life() -> None:
    fork = talk().fork("a2")
    assert ids(fork.path) == ["q1", "a2"]
    assert fork.id != talk().id
    assert "q2" not in fork.turns


@pytest.mark.parametrize("turn", [Turn("user", id="q1"), Turn("user", parent="nowhere")])
def test_a_turn_that_does_not_fit_is_refused(turn: Turn) -> None:
    with pytest.raises(KeyError):
        talk().add(turn)


def test_a_turn_cannot_move() -> None:
    with pytest.raises(ValueError, match="another parent"):
        talk().put(Turn("user", "second?", "", "a1", id="q2"))


@relaxed
@given(conversations())
def test_every_turn_can_be_shown(chat: Conversation) -> None:
    for turn_id in chat.turns:
        assert turn_id in ids(chat.show(turn_id).path)


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("\n\n# **Hello** there\nmore", "Hello** there"),
        ("word " * 30, "word word word word word word word word word word word…"),
        ("x" * 80, "x" * 59 + "…"),
        ("", ""),
    ],
)
def test_the_title_is_the_first_line_with_words(text: str, title: str) -> None:
    assert derived_title([Turn("user", text)]) == title
