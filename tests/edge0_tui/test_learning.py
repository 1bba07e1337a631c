"""A reply teaches the next plan; without measurements, or when the model is gone, nothing happens."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from edge0_tui.learning import MEASUREMENTS, note_reply
from edge0_tui.paths import Paths, find_paths
from edge0_tui.planning import planned
from engine.outlook import store
from engine.outlook.learned import learned, learning_key
from engine.outlook.machine import this_machine
from engine.outlook.outlook import outlook
from engine.outlook.volume import volume_id
from engine.protocol import Counters, Finished, ModelInfo, RoutingReport
from tests.engine.outlook.examples import COMPUTE, DISK


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Paths:
    monkeypatch.setenv("EDGE0_HOME", str(tmp_path))
    return find_paths()


def finished(speed: float, tokens: int = 50) -> Finished:
    counters = Counters(completion_tokens=tokens, decode_tok_s=speed, routing=RoutingReport(mode="predicted"))
    return Finished("1", "stop", "", "", [], [], counters, None)


def test_a_reply_teaches_the_next_plan(places: Paths) -> None:
    what = planned("nano", places)
    facts = what.model.facts(4)
    store.keep_disk(places.data, volume_id(what.volume), DISK)
    store.keep_compute(places.data, replace(COMPUTE, shape=facts.shape, version=store.version()))
    assert store.FILE == MEASUREMENTS
    machine = this_machine(what.volume, places.data, window=0)
    plan = outlook(facts, machine)
    info = ModelInfo("nano", "nano", str(what.directory), budget_bytes=plan.budget, context_limit=plan.context)
    note_reply(places, info, finished(3.0, tokens=3))
    assert learned(places.data, learning_key(plan)) is None
    note_reply(places, info, finished(3.0))
    known = learned(places.data, learning_key(plan))
    assert known is not None and known.achieved == 3.0
    assert plan.speed is not None and known.expected == pytest.approx(plan.speed.decode.likely, rel=0.05)


def test_nothing_measured_nothing_learned(places: Paths) -> None:
    note_reply(places, ModelInfo("x", "custom", "/nowhere"), finished(3.0))
    places.data.mkdir(parents=True)
    (places.data / MEASUREMENTS).write_text("{}")
    note_reply(places, ModelInfo("x", "custom", "/nowhere"), finished(3.0))
    assert not (places.data / "learned.json").exists()
