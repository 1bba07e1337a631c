"""What a plan card says: items, verdicts, reasons; never above the budget, never slower with more of anything."""

from __future__ import annotations

import math
import time
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import UsageError
from engine.outlook.outlook import outlook
from engine.outlook.speed import Conditions, Processors, layer_rate
from engine.outlook.types import DiskSpeed, Learned, Machine, Outlook, Swapping
from engine.outlook.verdict import SLOW
from engine.plan import INTERPRETER, GiB, MiB
from engine.protocol import Routing
from tests.engine.outlook.examples import COMPUTE, DISK, FACTS_35B, machine

routings = st.sampled_from(("exact", "predicted"))
QUICK = replace(COMPUTE, predicted=0.02, heads=0.01, head=0.01)
CALM = replace(COMPUTE, predicted=1.3)
"""With the heads and the last layer a token takes 1.45 s."""
budgets = st.integers(2 * GiB, 30 * GiB)
rates = st.lists(st.floats(1e6, 2e10), min_size=5, max_size=5)


def likely(out: Outlook) -> float:
    assert out.speed is not None
    return out.speed.decode.likely


def disk(values: list[float], cached: float = 3e9) -> DiskSpeed:
    return replace(DISK, rates=tuple(zip((1, 2, 4, 8, 16), values, strict=True)), cached=max(cached, *values))


@given(budgets, st.integers(1, 262_144), st.integers(1, 64).map(lambda n: n * GiB // 2))
def test_a_plan_keeps_to_its_budget_and_a_refusal_is_itemised(budget: int, context: int, available: int) -> None:
    out = outlook(FACTS_35B, machine(available, 64 * GiB), budget=budget, context=context)
    total = sum(item.bytes for item in out.items)
    assert {"dense weights", "arena", "KV cache"} <= {item.name for item in out.items}
    if out.plan is None:
        assert (out.verdict, out.speed) == ("no", None) and total == out.least > budget
    else:
        assert total <= budget and out.plan.slots >= FACTS_35B.step_set and budget >= out.least


@given(st.integers(2, 40), st.integers(0, 20), st.floats(0.1, 1.0), routings, st.integers(0, 18))
def test_more_memory_is_never_slower(gib: int, more: int, share: float, routing: Routing, cached: int) -> None:
    """At a fixed budget the rest is page cache; without one the budget grows, too."""
    small, large = machine(gib * GiB, 64 * GiB), machine((gib + more) * GiB, 64 * GiB)
    for budget in (None, max(int(gib * GiB * share), 3 * GiB)):
        before = outlook(FACTS_35B, small, budget=budget, routing=routing, cached=cached * GiB)
        after = outlook(FACTS_35B, large, budget=budget, routing=routing, cached=cached * GiB)
        assert after.left >= before.left
        assert not before.possible or after.possible
        if before.speed:
            assert likely(after) >= likely(before) * (1 - 1e-9)


@given(rates, st.floats(1.0, 10.0), routings)
def test_a_faster_disk_is_never_slower(values: list[float], factor: float, routing: Routing) -> None:
    slow = machine(4 * GiB, disk=disk(values, 3e11))
    fast = machine(4 * GiB, disk=disk([rate * factor for rate in values], 3e11))
    assert likely(outlook(FACTS_35B, fast, budget=3 * GiB, routing=routing)) >= likely(
        outlook(FACTS_35B, slow, budget=3 * GiB, routing=routing)
    ) * (1 - 1e-9)


@given(rates, st.integers(3, 40), routings, st.integers(0, 18))
def test_the_likely_speed_is_within_its_bounds(
    values: list[float], gib: int, routing: Routing, cached: int
) -> None:
    out = outlook(FACTS_35B, machine(gib * GiB, disk=disk(values)), routing=routing, cached=cached * GiB)
    if out.speed:
        assert 0 < out.speed.decode.low <= out.speed.decode.likely <= out.speed.decode.high
        assert 0 <= out.speed.hits <= 1 and 0 <= out.speed.cached <= 1 and out.speed.hidden_s >= 0
        first = out.speed.first_token
        assert 0 < first.low <= first.likely <= first.high


def test_reading_ahead_hides_what_exact_routing_waits_for() -> None:
    at = replace(machine(4 * GiB), device="metal")  # kernels that readers do not disturb
    ahead, waiting = (outlook(FACTS_35B, at, budget=3 * GiB, routing=r) for r in ("predicted", "exact"))
    assert ahead.speed and waiting.speed
    assert ahead.speed.hidden_s > 0 and waiting.speed.hidden_s == 0
    assert likely(ahead) > likely(waiting)
    # By hand: 160 experts, 2.8 % of them in 283 slots, at 0.8 GB/s with four in flight.
    assert waiting.plan and waiting.speed.cached == pytest.approx(0, abs=0.06)
    missing = 160 * 1_769_472 * (1 - waiting.plan.slots / 10_240)
    cold, warm = missing * (1 - waiting.speed.cached), missing * waiting.speed.cached
    assert waiting.speed.read_s == pytest.approx(cold / 1.0e9 + warm / 3e9)
    waited = cold / 0.8e9 + warm / 3e9
    assert 1 / likely(waiting) == pytest.approx(waited + COMPUTE.exact + COMPUTE.head, rel=0.03)


def test_everything_in_memory_is_as_fast_as_computing() -> None:
    out = outlook(FACTS_35B, machine(40 * GiB, 64 * GiB), budget=24 * GiB, routing="exact")
    assert out.speed and (out.speed.hits, out.speed.read_s) == (1.0, 0.0)
    assert likely(out) == pytest.approx(1 / (COMPUTE.exact + COMPUTE.head))
    assert "every expert has a slot" in " ".join(out.reasons)


@pytest.mark.parametrize(
    ("at", "budget", "verdict", "said"),
    [
        (machine(16 * GiB, compute=QUICK), None, "fits", "Fits: it takes 2.90 GiB of the 16 GiB available "),
        (machine(16 * GiB), None, "fits", "; it takes 2.90 GiB of the 16 GiB available now."),
        (machine(16 * GiB, disk=None), None, "fits", "a speed that is not known yet"),
        (machine(3 * GiB + 300 * MiB), 3 * GiB, "tight", "leaves 300 MiB for the page cache"),
        (machine(3 * GiB), 4 * GiB, "tight", "1.00 GiB are in use by others"),
        (machine(16 * GiB, swapping=Swapping(0.0, 5e6, 0.0)), None, "tight", "swapping already"),
        (machine(8 * GiB, disk=disk([1e7] * 5)), 3 * GiB, "tight", "too slow to talk with, about 0.0"),
        (machine(8 * GiB, compute=CALM), None, "fits", "Fits, but slow: about 0."),
        (machine(3 * GiB + 300 * MiB, compute=CALM), 3 * GiB, "tight", "page cache, slow: about 0."),
        (machine(16 * GiB), 2 * GiB, "no", "does not fit in 2.00 GiB"),
        (machine(2 * GiB), None, "no", "what this machine can spare now"),
        (machine(16 * GiB, 24 * GiB), 25 * GiB, "no", "more than the 24 GiB of this machine"),
        (machine(4 * GiB, limit=4 * GiB), 5 * GiB, "no", "control group"),
        (machine(16 * GiB, working_set=2 * GiB), None, "no", "the accelerator may use"),
    ],
)  # fmt: skip
def test_verdicts_in_a_sentence(at: Machine, budget: int | None, verdict: str, said: str) -> None:
    out = outlook(FACTS_35B, at, budget=budget)
    assert (out.verdict, out.possible) == (verdict, verdict != "no")
    assert said in out.sentence and out.sentence.endswith(".") and out.sentence.count("\n") == 0
    assert out.hint or verdict != "no"


@given(rates, st.integers(3, 40), st.floats(0.001, 10.0))
def test_the_pace_is_the_speeds_alone_and_the_sentence_says_it(
    values: list[float], gib: int, seconds: float
) -> None:
    at = machine(gib * GiB, disk=disk(values), compute=replace(COMPUTE, predicted=seconds))
    out = outlook(FACTS_35B, at)
    if out.speed is None:
        assert out.pace == "unknown" and "slow" not in out.sentence
    else:
        assert out.pace == ("slow" if likely(out) < SLOW else "fluent")
        assert ("slow" in out.sentence) == (out.pace == "slow") or "swapping" in out.sentence


def test_a_missing_expert_waits_with_the_others_of_its_layer_and_not_with_a_mean() -> None:
    facts = replace(FACTS_35B, experts_per_token=8)
    at = Conditions(facts, DISK, COMPUTE, "exact", hits=0.75, cached=0.5, processors=Processors(2, 1.0))
    # Layer by layer: every number of misses that eight draws can give, each layer at its own depth.
    share, waited = 0.125, 0.0
    for misses in range(1, 9):
        chance = math.comb(8, misses) * share**misses * (1 - share) ** (8 - misses)
        waited += 40 * chance * misses * facts.record / DISK.at(misses)
    cold = 320 * share * facts.record
    assert cold / layer_rate(at) == pytest.approx(waited)
    assert cold / DISK.at(8 * share) > 1.1 * waited, "what the mean of all layers would say"
    assert layer_rate(replace(at, hits=0.0, cached=0.0)) == pytest.approx(DISK.at(8))
    assert layer_rate(replace(at, hits=1.0)) == pytest.approx(DISK.at(1))


def test_a_control_group_bounds_the_default_budget_and_the_page_cache() -> None:
    inside = outlook(FACTS_35B, machine(4 * GiB, 24 * GiB, limit=4 * GiB))
    outside = outlook(FACTS_35B, machine(16 * GiB))
    assert inside.budget < outside.budget and inside.budget + inside.left == 4 * GiB
    assert likely(inside) < likely(outside)


def test_a_download_needs_room_and_a_model_to_be_replaced_gives_some_back() -> None:
    full = outlook(FACTS_35B, machine(free=10 * GiB), download=19 * GiB)
    assert full.verdict == "no" and "has 10 GiB free" in full.sentence
    assert outlook(FACTS_35B, machine(free=None), download=19 * GiB).possible
    assert any("free space of /models is unknown" in r for r in outlook(FACTS_35B, machine(free=None)).reasons)
    assert not outlook(FACTS_35B, machine(2 * GiB)).possible
    assert outlook(FACTS_35B, machine(2 * GiB), held=3 * GiB).possible


def test_kv_at_the_usual_contexts_and_the_chosen_one() -> None:
    out = outlook(FACTS_35B, machine(), context=10_000)
    assert out.kv == ((4096, 4096 * 40_960), (10_000, 10_000 * 40_960), (32_768, 32_768 * 40_960))
    assert [tokens for tokens, _ in outlook(replace(FACTS_35B, max_context=4096), machine()).kv] == [4096]
    with pytest.raises(UsageError, match="context"):
        outlook(FACTS_35B, machine(), context=300_000)


def test_what_is_unknown_is_said() -> None:
    blind = outlook(FACTS_35B, machine(disk=None, compute=None, swapping=None))
    said = " ".join(blind.reasons)
    assert blind.speed is None
    for word in ("disk has not been measured", "kernels have not been measured", "swaps is unknown"):
        assert word in said


def test_what_was_learned_corrects_and_says_so() -> None:
    plain = outlook(FACTS_35B, machine())
    better = outlook(FACTS_35B, machine(), learned=Learned(1.5, 3, 1.0, 1.6))
    assert likely(better) == pytest.approx(1.5 * likely(plain))
    assert any("Corrected by 1.50 after 3 replies" in reason for reason in better.reasons)


def test_it_follows_a_slider() -> None:
    at = machine()
    began = time.thread_time()  # what other programs take is not the planner's
    for step in range(50):
        outlook(FACTS_35B, at, budget=3 * GiB + step * 64 * MiB)
    assert (time.thread_time() - began) / 50 < 0.005


def test_the_accelerator_holds_no_interpreter() -> None:
    plan = outlook(FACTS_35B, machine()).plan
    assert plan is not None
    assert outlook(FACTS_35B, machine(working_set=plan.total - INTERPRETER)).possible
