"""What is left out of a conversation that does not fit."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from engine.fitting import without_oldest
from engine.protocol import Message
from engine.text import Prompt
from engine.text.channels import ReplyStart


def encode(messages: Sequence[Message]) -> Prompt:
    """One id a character."""
    text = "".join(message.content for message in messages)
    return Prompt(text, [ord(character) for character in text], 0, ReplyStart())


@given(st.booleans(), st.lists(st.tuples(st.integers(1, 9), st.integers(0, 9)), min_size=1), st.integers(0, 60))
def test_as_few_of_the_oldest_as_possible(system: bool, turns: list[tuple[int, int]], most: int) -> None:
    head = [Message("system", "s" * 3)] if system else []
    messages = list(head)
    for question, answer in turns:
        messages += [Message("user", "q" * question), Message("assistant", "a" * answer)]
    messages.pop()
    prompt, dropped = without_oldest(encode, messages, most)
    kept = head + messages[len(head) + dropped :]
    assert prompt == encode(kept)
    assert kept[len(head)].role == "user"
    assert len(prompt.ids) <= most or kept[-1] is kept[len(head)]
    if dropped:
        before = head + messages[len(head) + dropped - 2 :]
        assert len(encode(before).ids) > most
