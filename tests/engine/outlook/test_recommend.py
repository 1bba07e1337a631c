"""Which model is loaded at start, and the reason that is shown."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.outlook.outlook import outlook
from engine.outlook.recommend import Candidate, recommended
from engine.outlook.types import Machine
from engine.plan import GiB, MiB, ModelFacts
from tests.engine.outlook.examples import COMPUTE, DISK, FACTS_35B, machine

FACTS_8B = replace(
    FACTS_35B,
    name="8B",
    dense=456_847_936,
    record=1_327_104,
    moe_layers=23,
    experts=128,
    experts_per_token=8,
    cache_per_token=13_824,
    heads=77_594_624,
    predicted_layers=16,
    shape="8b",
)
NANO = ModelFacts("nano", 4 * MiB, 20_000, 8, 32, 4, 4096, 100_000, 0, 0, 4096, 4096, shape="nano")


def on(at: Machine, speed: float = 1.0) -> list[Candidate]:
    """Three tiers; `speed` divides what computing takes and the 35B's disk needs."""
    quick = replace(COMPUTE, exact=0.1 / speed, predicted=0.1 / speed, head=0.01, heads=0.01)
    at = replace(at, computed=tuple(replace(quick, shape=shape) for shape in ("35b", "8b", "nano")))
    facts = {"nano": NANO, "8b": FACTS_8B, "35b": FACTS_35B}
    return [Candidate(f"/models/{tier}", tier, outlook(found, at)) for tier, found in facts.items()]


SLOW = replace(DISK, rates=tuple((depth, rate / 8) for depth, rate in DISK.rates))


@pytest.mark.parametrize(
    ("candidates", "tier", "said"),
    [
        (on(machine(32 * GiB, 64 * GiB)), "35b", "35B: needs 2.90 GiB of 32 GiB available now and gives about "),
        (on(machine(int(3.4 * GiB))), "8b", "35B does not fit"),
        (on(machine(4 * GiB, disk=SLOW)), "8b", "8B: needs"),
        (on(machine(1 * GiB)), "nano", "35B does not fit, 8B does not fit"),
        (on(machine(16 * GiB, disk=None)), "35b", "its speed is not measured yet"),
    ],
)
def test_the_ablest_that_runs_well_now(candidates: list[Candidate], tier: str, said: str) -> None:
    for order in (candidates, candidates[::-1]):
        best = recommended(order)
        assert best is not None and best.id == f"/models/{tier}"
        assert said in best.reason and best.reason.endswith(".")


def test_a_measured_disk_that_makes_the_larger_one_slow_decides() -> None:
    crawling = replace(DISK, rates=tuple((depth, rate / 6) for depth, rate in DISK.rates))
    quick = on(machine(12 * GiB), speed=4.0)
    slow = on(machine(12 * GiB, disk=crawling), speed=4.0)
    assert quick[2].outlook.pace == "fluent" and slow[2].outlook.pace == "slow"
    assert [c.outlook.verdict for c in slow[1:]] == ["fits", "fits"]
    chosen = [recommended(found) for found in (quick, slow)]
    assert [best.id for best in chosen if best] == ["/models/35b", "/models/8b"]
    assert chosen[1] and "35B would give about" in chosen[1].reason


def test_slow_ones_are_better_than_none_and_the_fastest_of_them_is_taken() -> None:
    crawling = on(machine(16 * GiB), speed=0.05)
    best = recommended(crawling)
    paces = {c.tier: c.outlook.speed.decode.likely for c in crawling if c.outlook.speed}
    assert max(paces["35b"], paces["8b"]) < 2
    assert best is not None and best.id == ("/models/8b" if paces["8b"] > paces["35b"] else "/models/35b")


def test_always_this_one() -> None:
    found = on(machine(16 * GiB))
    best = recommended(found, always="/models/nano")
    assert best is not None and best.id == "/models/nano" and "settings" in best.reason
    gone = recommended(found, always="/models/gone")
    assert gone is not None and gone.id == "/models/35b"
    assert recommended([]) is None
    only = recommended(found[:1])
    assert only is not None and only.id == "/models/nano"
