"""A stopped answer that goes on says what it would have said, and computes only what is not there."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.protocol import Message, Sampling
from tests.engine.fidelity.bench_of_one import Subject

QUESTION = Message("user", "What is an expert?")


def greedy(tokens: int) -> Sampling:
    return Sampling(temperature=0.0, max_tokens=tokens)


@pytest.mark.parametrize("routing", ["exact", "predicted"])
def test_the_rest_equals_a_cold_run_and_reuses_the_state(checkpoint: Path, routing: str) -> None:
    warm, cold = (Subject(checkpoint, routing=routing) for _ in range(2))
    for subject in (warm, cold):
        subject.loaded.codec.stop_ids = frozenset()
    first = warm.ask([QUESTION], greedy(12))
    partial = [QUESTION, Message("assistant", first.text, first.thinking)]
    rest, same = warm.ask(partial, greedy(8)), cold.ask(partial, greedy(8))
    assert rest.ids == same.ids and rest.prompt_ids == same.prompt_ids
    assert same.counters.reused_tokens == 0
    boundary = warm.loaded.codec.encode_chat([QUESTION]).boundary
    assert rest.counters.reused_tokens >= boundary > 10
    kept = [*first.prompt_ids, *first.ids][:-1]
    if routing == "exact" and rest.prompt_ids[: len(kept)] == kept:
        assert rest.counters.reused_tokens == len(kept), "what was decoded need not be computed again"


def test_in_one_piece_or_in_two_it_is_the_same_answer() -> None:
    """With the model's own routing: what heads predict is computed anew when an answer goes on."""
    subject = Subject(Path("nano"), routing="exact")
    whole = subject.ask([QUESTION], greedy(64))
    assert len(whole.ids) > 8
    for cut in (1, 4, len(whole.ids) // 2):
        first = subject.ask([QUESTION], greedy(cut))
        rest = subject.ask([QUESTION, Message("assistant", first.text)], greedy(64))
        assert first.ids + rest.ids == whole.ids
        assert first.text + rest.text == whole.text
        assert rest.counters.reused_tokens == len(first.prompt_ids) + cut - 1


def test_turns_are_dropped_only_when_asked_and_only_the_oldest(checkpoint: Path) -> None:
    subject = Subject(checkpoint)
    long = "word " * 1500
    turns = [Message("system", "Be brief.")]
    for number in range(4):
        turns += [Message("user", f"{number} {long}"), Message("assistant", "Yes.")]
    asked = [*turns, Message("user", "And now?")]
    with pytest.raises(Exception, match="tokens and the context holds") as refused:
        subject.ask(asked, greedy(2))
    assert getattr(refused.value, "kind", "") == "context"
    reply = subject.ask(asked, greedy(2), drop_oldest=True)
    dropped = reply.counters.dropped_messages
    assert 0 < dropped < len(turns) and dropped % 2 == 0
    kept = [turns[0], *asked[1 + dropped :]]
    assert reply.prompt_ids == subject.loaded.codec.encode_chat(kept).ids
    assert subject.ask([QUESTION], greedy(2), drop_oldest=True).counters.dropped_messages == 0
