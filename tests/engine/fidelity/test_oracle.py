"""The engine against mlx-lm's classes, on the same files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine.checkpoint.synthetic import tiny_8b, write_synthetic
from engine.models import layer
from engine.protocol import Sampling
from tests.engine.fidelity.bench_of_one import Subject, relative_error
from tests.engine.fidelity.families import Family, K
from tests.engine.fidelity.oracle_8b import Oracle8B

PROMPT = [(7 * i * i + 13 * i + 5) % 440 for i in range(70)]
THEN = [17, 4, 230, 11, 399]
TOLERANCE = 1e-4


def test_plain_checkpoint_logits_of_prefill_and_decode(
    plain: Path, family: Family, monkeypatch: pytest.MonkeyPatch
) -> None:
    subject, oracle = Subject(plain), family.oracle(plain, K)
    expected = oracle.logits(PROMPT, THEN)
    for chunk, block in ((len(PROMPT), 128), (len(PROMPT), 16), (16, 128), (1, 128)):
        monkeypatch.setattr(layer, "MIXER_BLOCK", block)
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
    by_layer = reply.counters.routing.agreement_by_layer
    assert set(by_layer) == {str(layer) for layer in oracle.predicted}
    assert sum(by_layer.values()) / len(by_layer) == pytest.approx(reply.counters.routing.agreement)
    assert subject.raw(text).ids == reply.ids, "measuring the agreement changed the reply"
    exact = Subject(checkpoint, routing="exact").raw(text)
    assert reply.ids != exact.ids, "predicted routing changed nothing: the heads were not in use"
    few = Sampling(temperature=0.0, max_tokens=12)
    measured = subject.raw(text, few, measure_agreement=True, routing="exact")
    assert measured.ids == exact.ids[:12], "measuring the agreement changed the reply"
    assert measured.counters.routing.predicted_layers == 0
    assert set(measured.counters.routing.agreement_by_layer) == set(by_layer)


def test_the_adapters_share_of_kv_b_is_applied_and_nothing_else_stands_in_for_it(tmp_path: Path) -> None:
    path = write_synthetic(tmp_path / "Edge0-8b-tiny", tiny_8b(), seed=1)
    subject, expected = Subject(path), Oracle8B(path, K).logits(PROMPT)[0]
    assert relative_error(subject.logits(PROMPT)[0], expected) < TOLERANCE
    linears = subject.loaded.model.linears
    latent = [name for name in linears if name.endswith("kv_b_proj")]
    assert len(latent) == 2
    for name in latent:
        linears[name].adapter = None
    assert relative_error(subject.logits(PROMPT)[0], expected) > 100 * TOLERANCE


def test_leftovers_of_the_prerouters_training_are_never_read(tmp_path: Path) -> None:
    path = write_synthetic(tmp_path / "Edge0-8b-tiny", tiny_8b(), seed=1)
    subject = Subject(path)
    prompt = Subject(path).raw("a b").prompt_ids
    assert not any("pregate" in name for name in subject.loaded.checkpoint.tensors)
    before = subject.logits(prompt)[0]
    overwrite(path / "model.safetensors", ".pregate.")
    assert (Subject(path).logits(prompt)[0] == before).all()


def overwrite(path: Path, part: str) -> None:
    """NaN in every tensor whose name contains `part`."""
    with path.open("r+b") as file:
        size = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(size))
        spans = [entry["data_offsets"] for name, entry in header.items() if part in name]
        assert spans
        for start, end in spans:
            file.seek(8 + size + start)
            file.write(b"\xff" * (end - start))
