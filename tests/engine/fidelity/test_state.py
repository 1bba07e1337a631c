"""Poisoned and interrupted state never reaches the next reply."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import mlx.core as mx
import pytest

from engine.choice import choose
from engine.errors import EngineError, UsageError
from engine.models.blocks import GUARD_LIMIT, guard
from engine.models.cache import Recurrent
from engine.protocol import Delta, Event, Generate, Load, Message, Prefilling, Sampling
from tests.engine.fidelity.bench_of_one import GREEDY, Subject, never
from tests.engine.fidelity.families import WIDTH, Family

TEXT = "What is kept between two turns?"


@pytest.fixture(scope="module")
def fresh_ids(checkpoint: Path) -> list[int]:
    """What a fresh process answers."""
    return Subject(checkpoint).raw(TEXT).ids


def poison(subject: Subject) -> None:
    """NaN in every recurrent state of the live conversation."""
    for layer in subject.loaded.live.state.layers:
        if isinstance(layer, Recurrent):
            layer.state = mx.full(layer.state.shape, float("nan"))


def test_poisoned_state_then_reset_equals_a_fresh_process(checkpoint: Path, fresh_ids: list[int]) -> None:
    subject = Subject(checkpoint)
    subject.raw(TEXT)
    poison(subject)
    subject.session.reset()
    assert subject.raw(TEXT).ids == fresh_ids


def test_output_that_is_not_finite_stops_the_reply_and_only_that_one(
    checkpoint: Path, fresh_ids: list[int]
) -> None:
    subject = Subject(checkpoint)
    norm = subject.loaded.model.norm
    subject.loaded.model.norm = norm * float("nan")
    with pytest.raises(EngineError, match="not finite"):
        subject.raw(TEXT)
    subject.loaded.model.norm = norm
    assert subject.raw(TEXT).ids == fresh_ids


def test_the_guard_cleans_every_layer() -> None:
    x = mx.array([float("nan"), float("inf"), -float("inf"), 3.0, -2e9])
    assert guard(x).tolist() == [0.0, GUARD_LIMIT, -GUARD_LIMIT, 3.0, -GUARD_LIMIT]


def test_stopping_in_prefill_and_in_decode_leaves_the_engine_usable(checkpoint: Path, fresh_ids: list[int]) -> None:
    subject = Subject(checkpoint, chunk=4)
    subject.loaded.codec.stop_ids = frozenset()
    for after in range(1, 60, 7):
        seen: list[Event] = []
        request = Generate("g", [Message("user", TEXT)], GREEDY, raw=True)
        reply = subject.session.generate(request, seen.append, partial(reached, seen, after))
        assert reply.finish_reason == "cancelled"
        assert len(seen) <= after + 1, "it went on after it was told to stop"
        shown = "".join(piece.text for event in seen if isinstance(event, Delta) for piece in event.pieces)
        assert shown == reply.text
        assert reply.ids == fresh_ids[: len(reply.ids)]
    assert subject.raw(TEXT).ids == fresh_ids


def reached(events: list[Event], count: int) -> bool:
    """Whether so many events have come."""
    return len(events) >= count


def test_finish_reasons_and_counts(checkpoint: Path) -> None:
    subject = Subject(checkpoint)
    stop_ids = subject.loaded.codec.stop_ids
    reply = subject.raw(TEXT, Sampling(temperature=0, max_tokens=5))
    assert (reply.finish_reason, len(reply.ids), reply.counters.completion_tokens) == ("length", 5, 5)
    subject.loaded.codec.stop_ids = frozenset({reply.ids[2]})
    stopped = subject.session.generate(
        Generate("g", [Message("user", TEXT)], GREEDY, raw=True), lambda _: None, never
    )
    assert stopped.finish_reason == "stop"
    assert stopped.ids == reply.ids[: reply.ids.index(reply.ids[2])]
    assert stop_ids, "the checkpoint names no stop id"


def test_a_prompt_longer_than_the_context_is_refused_with_both_lengths(checkpoint: Path) -> None:
    subject = Subject(checkpoint)
    with pytest.raises(UsageError, match=r"The prompt has [\d,]+ tokens and the context holds 4,096"):
        subject.raw("word " * 5000)
    assert subject.raw(TEXT).finish_reason == "length"


def test_progress_of_prefill_grows_to_the_prompt(checkpoint: Path) -> None:
    events: list[Event] = []
    subject = Subject(checkpoint, chunk=4)
    reply = subject.ask([Message("user", TEXT)], events=events)
    done = [event.done for event in events if isinstance(event, Prefilling)]
    assert done == sorted(done) and done[-1] == len(reply.prompt_ids)


def test_kv_and_recurrent_figures_are_the_arrays_own(checkpoint: Path, family: Family) -> None:
    subject = Subject(checkpoint)
    reply = subject.raw(TEXT)
    assert reply.counters.kv_bytes_per_token == family.kv_per_token
    assert reply.counters.kv_bytes == 256 * family.kv_per_token
    assert reply.counters.recurrent_bytes == family.recurrent
    assert reply.counters.experts.read_amplification == 1.0
    facts = choose(Load("load", str(checkpoint))).facts(WIDTH)
    assert (facts.cache_per_token, facts.recurrent) == (family.kv_per_token, family.recurrent)
