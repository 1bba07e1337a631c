"""The memory plan: never above the budget, monotone, refusals that say what would fit."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import PlanError, UsageError
from engine.plan import GiB, MiB, ModelFacts, plan_memory, size

RELEASED_35B = ModelFacts(
    name="35B",
    dense=1_389_394_176,
    record=1_769_472,
    moe_layers=40,
    experts=256,
    experts_per_token=4,
    cache_per_token=40_960,
    recurrent=64_389_120,
    adapter=84_664_320,
    heads=276_824_064,
    activations_per_token=160_000,
    max_context=262_144,
)
facts = st.builds(
    ModelFacts,
    name=st.just("any"),
    dense=st.integers(0, 2 * GiB),
    record=st.integers(1, 4 * MiB),
    moe_layers=st.integers(1, 48),
    experts=st.integers(8, 256),
    experts_per_token=st.integers(1, 8),
    cache_per_token=st.integers(0, 100_000),
    recurrent=st.integers(0, 64 * MiB),
    adapter=st.integers(0, 100 * MiB),
    heads=st.integers(0, 300 * MiB),
    activations_per_token=st.integers(0, 500_000),
    max_context=st.integers(1, 262_144),
)


@given(facts, st.integers(1, 64 * GiB), st.integers(1, 64 * GiB) | st.none())
def test_a_plan_is_within_its_budget_and_holds_one_tokens_set(
    model: ModelFacts, usable: int, budget: int | None
) -> None:
    try:
        plan = plan_memory(model, usable, budget)
    except PlanError:
        return
    assert plan.total <= plan.budget
    assert budget is None or plan.budget == budget
    assert model.step_set <= plan.slots <= model.all_records


@given(facts, st.integers(1, 16 * GiB), st.integers(0, 4 * GiB))
def test_more_memory_never_gives_fewer_slots(model: ModelFacts, budget: int, more: int) -> None:
    try:
        small = plan_memory(model, 64 * GiB, budget)
    except PlanError:
        return
    assert plan_memory(model, 64 * GiB, budget + more).slots >= small.slots


def test_the_released_35b_fits_its_default_budget() -> None:
    plan = plan_memory(RELEASED_35B, 16 * GiB)
    assert plan.total <= plan.budget <= 3 * GiB
    assert plan.slots >= 160
    assert {item.name for item in plan.items} >= {
        "dense weights",
        "arena",
        "KV cache",
        "recurrent state",
        "staging",
    }


def test_a_small_model_gets_a_slot_for_every_record() -> None:
    small = ModelFacts("nano", 4 * MiB, 20_000, 8, 32, 4, 4096, 100_000, 0, 0, 4096, 4096)
    assert plan_memory(small, 8 * GiB).slots == small.all_records


def test_too_small_a_budget_is_refused_with_the_list_and_what_would_fit() -> None:
    with pytest.raises(PlanError) as refused:
        plan_memory(RELEASED_35B, 16 * GiB, 2 * GiB)
    text = str(refused.value)
    for word in ("160 expert slots", "dense weights", "KV cache", "recurrent state", "at least"):
        assert word in text
    with pytest.raises(PlanError, match="this machine can spare"):
        plan_memory(RELEASED_35B, 2 * GiB)


def test_the_context_that_would_fit_does_fit() -> None:
    with pytest.raises(PlanError) as refused:
        plan_memory(RELEASED_35B, 16 * GiB, 3 * GiB, 32_768)
    words = refused.value.hint.split()
    context = int(words[words.index("--context") + 1])
    plan_memory(RELEASED_35B, 16 * GiB, 3 * GiB, context)


@pytest.mark.parametrize("context", [0, -5, 262_145])
def test_a_context_the_model_does_not_have_is_refused(context: int) -> None:
    with pytest.raises(UsageError, match="context"):
        plan_memory(RELEASED_35B, 16 * GiB, context=context)


def test_no_budget_is_not_an_unbounded_one() -> None:
    with pytest.raises(UsageError, match="memory is 0"):
        plan_memory(RELEASED_35B, 16 * GiB, 0)


def test_sizes_read_well() -> None:
    assert [size(n) for n in (12, 2048, 5 * MiB, 3 * GiB // 2, 20 * GiB)] == [
        "12 B",
        "2 KiB",
        "5 MiB",
        "1.50 GiB",
        "20 GiB",
    ]
