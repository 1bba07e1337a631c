"""What a load refuses, in which words, and that nothing of a refused load stays behind."""

from __future__ import annotations

import shutil
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from engine.checkpoint.synthetic import tiny, write_synthetic
from engine.errors import CheckpointError, EngineError, PlanError, UsageError
from engine.loaded import LoadStopped
from engine.plan import MiB
from engine.protocol import Load, Message, Sampling
from engine.session import Session
from engine.text import Prompt, ReplyStart
from tests.engine.fidelity.bench_of_one import Subject, never


def load(path: Path, **options: object) -> None:
    """One load that is expected to fail."""
    Session().load(Load("l", str(path), **options), lambda *_: None, never)  # type: ignore[arg-type]


@pytest.fixture
def copy(tiny_checkpoint: Path, tmp_path: Path) -> Path:
    """A checkpoint that may be damaged."""
    return Path(shutil.copytree(tiny_checkpoint, tmp_path / "copy"))


def test_a_truncated_shard_is_named(copy: Path) -> None:
    shard = next(copy.glob("model*.safetensors"))
    with shard.open("r+b") as file:
        file.truncate(shard.stat().st_size - 1000)
    with pytest.raises(CheckpointError, match=shard.name):
        load(copy)


def test_a_missing_tokenizer_is_named(copy: Path) -> None:
    (copy / "tokenizer.json").unlink()
    with pytest.raises(CheckpointError, match=r"tokenizer\.json"):
        load(copy)


def test_no_such_directory(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="no such checkpoint directory"):
        load(tmp_path / "nowhere")


def test_an_adapter_of_another_model_is_refused_with_both_names(copy: Path, tmp_path: Path) -> None:
    wider = replace(tiny().model, hidden_size=192)
    other = write_synthetic(tmp_path / "other", replace(tiny(), model=wider))
    foreign = next(other.glob("lora_*.safetensors"))
    with pytest.raises(CheckpointError, match=r"does not belong to .*copy"):
        load(copy, adapter=str(foreign))
    shutil.copy(next(other.glob("prerouter_*.safetensors")), next(copy.glob("prerouter_*.safetensors")))
    with pytest.raises(CheckpointError, match="does not belong to"):
        load(copy)


def test_an_unknown_adapter_is_refused_with_those_there_are(tiny_checkpoint: Path) -> None:
    with pytest.raises(CheckpointError, match="Available: lora_"):
        load(tiny_checkpoint, adapter="recovery")


def test_predicted_routing_needs_heads(plain_checkpoint: Path) -> None:
    with pytest.raises(UsageError, match="no prerouter heads"):
        load(plain_checkpoint, routing="predicted")


def test_a_budget_below_one_tokens_set_is_refused_with_the_list(tiny_checkpoint: Path) -> None:
    with pytest.raises(PlanError, match="expert slots") as refused:
        load(tiny_checkpoint, memory_bytes=300 * MiB)
    assert "dense weights" in refused.value.message and "at least" in refused.value.hint


def test_a_context_beyond_the_models_own_is_refused(tiny_checkpoint: Path) -> None:
    with pytest.raises(UsageError, match="between 1 and 4,096"):
        load(tiny_checkpoint, context=5000)


def note(seen: list[str], phase: str, done: int, total: int) -> None:
    """Progress, remembered."""
    seen.append(phase)


def more_than(seen: list[str], allowed: int) -> bool:
    """Whether it is time to stop."""
    return len(seen) > allowed


def test_a_stopped_load_leaves_nothing_and_the_next_one_works(tiny_checkpoint: Path) -> None:
    session = Session()
    request = Load("l", str(tiny_checkpoint))
    for allowed in (0, 2, 5):
        seen: list[str] = []
        with pytest.raises(LoadStopped):
            session.load(request, partial(note, seen), partial(more_than, seen, allowed))
        with pytest.raises(UsageError, match="No model is loaded"):
            session.reply(Prompt("", [1], 0, ReplyStart()), Sampling(), "exact")
    assert session.load(request, lambda *_: None, never).name == "Edge0-tiny"


def test_switching_adapter_and_routing_keeps_the_base_and_forgets_the_state(tiny_checkpoint: Path) -> None:
    subject = Subject(tiny_checkpoint, routing="exact")
    adapter = subject.info.adapter
    question = [Message("user", "What is an expert?")]
    adapted = subject.ask(question).ids
    base = subject.loaded.model
    subject.session.load(Load("l", str(tiny_checkpoint), adapter="none", routing="exact"), lambda *_: None, never)
    assert subject.loaded.model is base, "the base was read again"
    without = subject.ask(question)
    assert without.ids == Subject(tiny_checkpoint, routing="exact", adapter="none").ask(question).ids != adapted
    assert without.counters.reused_tokens == 0
    again = Load("l", str(tiny_checkpoint), adapter=adapter, routing="exact")
    subject.session.load(again, lambda *_: None, never)
    assert subject.ask(question).ids == adapted


def test_errors_are_engine_errors_with_exit_codes() -> None:
    assert {cls.exit_code for cls in (EngineError, UsageError, PlanError, CheckpointError)} == {5, 2, 3, 4}
