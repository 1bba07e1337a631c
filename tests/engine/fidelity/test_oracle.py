"""The engine against mlx-lm's classes, on the same files."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engine.fidelity.bench_of_one import Subject, relative_error
from tests.engine.fidelity.oracle import Oracle

PROMPT = [(7 * i * i + 13 * i + 5) % 440 for i in range(70)]
THEN = [17, 4, 230, 11, 399]
TOLERANCE = 1e-4


def test_plain_checkpoint_logits_of_prefill_and_decode(plain_checkpoint: Path) -> None:
    subject, oracle = Subject(plain_checkpoint), Oracle(plain_checkpoint, k=4)
    for ours, theirs in zip(subject.logits(PROMPT, THEN), oracle.logits(PROMPT, THEN), strict=True):
        assert relative_error(ours, theirs) < TOLERANCE


def test_adapter_logits_equal_wrapped_linears_and_differ_from_the_base(tiny_checkpoint: Path) -> None:
    subject, oracle = Subject(tiny_checkpoint), Oracle(tiny_checkpoint, k=4)
    adapted = subject.logits(PROMPT, THEN)
    for ours, theirs in zip(adapted, oracle.logits(PROMPT, THEN), strict=True):
        assert relative_error(ours, theirs) < TOLERANCE
    base = Subject(tiny_checkpoint, adapter="none").logits(PROMPT)
    assert relative_error(base[0], adapted[0]) > 100 * TOLERANCE


@pytest.mark.parametrize("text", ["The capital of France is", "a b c d e f g"])
def test_exact_greedy_ids_over_64_tokens(tiny_checkpoint: Path, text: str) -> None:
    reply = Subject(tiny_checkpoint, routing="exact").raw(text)
    assert reply.ids == Oracle(tiny_checkpoint, k=4).greedy(reply.prompt_ids, 64)


@pytest.mark.parametrize("text", ["The capital of France is", "a b c d e f g", "x"])
def test_predicted_greedy_ids_and_agreement_over_64_tokens(tiny_checkpoint: Path, text: str) -> None:
    subject = Subject(tiny_checkpoint, routing="predicted")
    reply = subject.raw(text, measure_agreement=True)
    oracle = Oracle(tiny_checkpoint, k=4, predict=True)
    assert reply.ids == oracle.greedy(reply.prompt_ids, 64)
    assert oracle.agreements and reply.counters.routing.agreement == pytest.approx(
        sum(oracle.agreements) / len(oracle.agreements)
    )
    assert reply.counters.routing.predicted_layers == len(oracle.predicted)
    exact = Subject(tiny_checkpoint, routing="exact").raw(text)
    assert reply.ids != exact.ids, "predicted routing changed nothing: the heads were not in use"


def test_a_one_token_prompt_lets_the_heads_see_it(tiny_checkpoint: Path) -> None:
    reply = Subject(tiny_checkpoint, routing="predicted").raw("x")
    assert len(reply.prompt_ids) == 1
    oracle = Oracle(tiny_checkpoint, k=4, predict=True)
    assert reply.ids == oracle.greedy(reply.prompt_ids, 64)
