"""Greedy ids do not depend on slots, chunks, prefetch, restarts or earlier conversations."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.protocol import Message, Sampling
from tests.engine.fidelity.bench_of_one import Subject
from tests.engine.fidelity.families import Family

TEXT = "Experts stay on the disk and are streamed for every token of a reply."


@pytest.fixture(scope="module", params=["exact", "predicted"])
def routing(request: pytest.FixtureRequest) -> str:
    """Both ways to route."""
    return str(request.param)


@pytest.fixture(scope="module")
def expected(checkpoint: Path, family: Family, routing: str) -> list[int]:
    """The ids of a fresh session with every expert in the arena."""
    return Subject(checkpoint, slots=family.everything, routing=routing).raw(TEXT).ids


@pytest.mark.parametrize("prefetch", [True, False])
@pytest.mark.parametrize("chunk", [1, 7, 4096])
@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_slots_chunks_and_prefetch(
    checkpoint: Path,
    family: Family,
    routing: str,
    expected: list[int],
    share: float,
    chunk: int,
    prefetch: bool,
) -> None:
    slots = max(family.step_set, int(share * family.everything))
    subject = Subject(checkpoint, slots=slots, chunk=chunk, routing=routing, prefetch=prefetch)
    reply = subject.raw(TEXT)
    assert reply.ids == expected
    assert reply.counters.experts.dropped == 0
    assert reply.counters.experts.slots == slots


def test_a_second_conversation_in_the_same_process(
    checkpoint: Path, family: Family, routing: str, expected: list[int]
) -> None:
    subject = Subject(checkpoint, slots=family.step_set, routing=routing)
    subject.raw("Something else came before, and it was longer than what follows: " + TEXT * 2)
    assert subject.raw(TEXT).ids == expected
    assert subject.raw(TEXT).ids == expected


def test_a_later_turn_computes_only_what_is_new_and_equals_a_cold_run(checkpoint: Path, routing: str) -> None:
    first = [Message("user", "What is an expert?")]
    subject = Subject(checkpoint, routing=routing)
    reply = subject.ask(first)
    then = [*first, Message("assistant", reply.text, reply.thinking), Message("user", "And a slot?")]
    warm = subject.ask(then)
    cold = Subject(checkpoint, routing=routing).ask(then)
    assert warm.ids == cold.ids
    assert cold.counters.reused_tokens == 0
    assert warm.counters.reused_tokens == subject.loaded.codec.encode_chat(first).boundary > 10
    assert warm.counters.prompt_tokens == len(cold.prompt_ids)


@pytest.mark.parametrize("word", [" a", " a b"])
def test_a_prompt_a_little_longer_than_the_last_equals_a_cold_run(checkpoint: Path, word: str) -> None:
    """The heads may have to see more of a prompt than is new."""
    few = Sampling(temperature=0.0, max_tokens=12)
    warm = Subject(checkpoint, routing="predicted")
    warm.raw(TEXT, few)
    assert warm.raw(TEXT + word, few).ids == Subject(checkpoint, routing="predicted").raw(TEXT + word, few).ids
