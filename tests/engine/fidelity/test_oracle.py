"""The engine against mlx-lm's classes, on the same files."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engine.fidelity.bench_of_one import Subject, relative_error
from tests.engine.fidelity.families import Family, K

PROMPT = [(7 * i * i + 13 * i + 5) % 440 for i in range(70)]
THEN = [17, 4, 230, 11, 399]
TOLERANCE = 1e-4


def test_plain_checkpoint_logits_of_prefill_and_decode(plain: Path, family: Family) -> None:
    subject, oracle = Subject(plain), family.oracle(plain, K)
    expected = oracle.logits(PROMPT, THEN)
    for chunk in (len(PROMPT), 16, 1):
        for ours, theirs in zip(subject.logits(PROMPT, THEN, chunk), expected, strict=True):
            assert relative_error(ours, theirs) < TOLERANCE


def test_adapter_logits_equal_wrapped_linears_and_differ_from_the_base(checkpoint: Path, family: Family) -> None:
    subject, oracle = Subject(checkpoint), family.oracle(checkpoint, K)
    adapted = subject.logits(PROMPT, THEN)
    for ours, theirs in zip(adapted, oracle.logits(PROMPT, THEN), strict=True):
        assert relative_error(ours, theirs) < TOLERANCE
    base = Subject(checkpoint, adapter="none").logits(PROMPT)
    assert relative_error(base[0], adapted[0]) > 100 * TOLERANCE
    unadapted = family.oracle(checkpoint, K, adapted=False).logits(PROMPT)
    assert relative_error(base[0], unadapted[0]) < TOLERANCE


@pytest.mark.parametrize("text", ["The capital of France is", "a b c d e f g"])
def test_exact_greedy_ids_over_64_tokens(checkpoint: Path, family: Family, text: str) -> None:
    reply = Subject(checkpoint, routing="exact").raw(text)
    assert reply.ids == family.oracle(checkpoint, K).greedy(reply.prompt_ids, 64)


@pytest.mark.parametrize("text", ["The capital of France is", "a b c d e f g", "x"])
def test_predicted_greedy_ids_and_agreement_over_64_tokens(checkpoint: Path, family: Family, text: str) -> None:
    subject = Subject(checkpoint, routing="predicted")
    reply = subject.raw(text, measure_agreement=True)
    assert text != "x" or len(reply.prompt_ids) == 1, "a prompt of one token is a case of its own"
    oracle = family.oracle(checkpoint, K, predict=True)
    assert reply.ids == oracle.greedy(reply.prompt_ids, 64)
    assert oracle.agreements and reply.counters.routing.agreement == pytest.approx(
        sum(oracle.agreements) / len(oracle.agreements)
    )
    assert reply.counters.routing.predicted_layers == len(oracle.predicted)
    assert subject.raw(text).ids == reply.ids, "measuring the agreement changed the reply"
    exact = Subject(checkpoint, routing="exact").raw(text)
    assert reply.ids != exact.ids, "predicted routing changed nothing: the heads were not in use"
