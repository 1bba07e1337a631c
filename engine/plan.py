"""The memory plan: what a model needs, item by item, within a budget. Pure arithmetic, no MLX.

The budget is the footprint of the whole engine process. What is left after the fixed items becomes arena slots;
fewer slots than one token routes to is refused, because such a pool would have no hits at all.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.errors import PlanError, UsageError
from engine.experts.limits import STAGING_DEPTH
from engine.protocol import PlanItem

MiB = 1024 * 1024
GiB = 1024 * MiB

DEFAULT_BUDGET = 29 * GiB // 10
"""Budget of a tier whose experts are streamed, unless the user sets another or less is available."""
DEFAULT_CONTEXT = 4096
INTERPRETER = 256 * MiB
"""Python, its libraries, compiled kernels, BLAS buffers and numpy's share of a step; measured on Linux: 67 MiB
beside the allocator's with nano, 200 MiB with the 35B's dimensions."""
ALLOCATOR_CACHE = 48 * MiB
SNAPSHOTS = 2
"""Recurrent states kept beside the live one: turn boundaries a conversation can go back to."""
STAGING_GROUP = 8
"""Experts staged together during prefill."""
CHUNK = 512
"""Prompt tokens computed at once."""
SHARE_OF_AVAILABLE = 0.7


@dataclass(frozen=True)
class ModelFacts:
    """What the plan needs to know of a checkpoint. Sizes in bytes, in the device's own dtypes.

    predicted_layers  layers whose experts the prerouter decides, if its heads are used; of the `moe_layers`
    pieces            separate ranges a record is read in
    shape             names the dimensions that decide how long computing takes; empty where nobody asks
    """

    name: str
    dense: int
    record: int
    moe_layers: int
    experts: int
    experts_per_token: int
    cache_per_token: int
    recurrent: int
    adapter: int
    heads: int
    activations_per_token: int
    max_context: int
    predicted_layers: int = 0
    pieces: int = 9
    shape: str = ""

    @property
    def step_set(self) -> int:
        """Records one token routes to."""
        return self.moe_layers * self.experts_per_token

    @property
    def all_records(self) -> int:
        return self.moe_layers * self.experts


@dataclass(frozen=True)
class MemoryPlan:
    budget: int
    context: int
    slots: int
    chunk: int
    items: tuple[PlanItem, ...]

    @property
    def total(self) -> int:
        return sum(item.bytes for item in self.items)


def fixed_items(facts: ModelFacts, context: int, chunk: int, everything: bool = False) -> tuple[PlanItem, ...]:
    """Everything but the arena; nothing is staged where `everything` has a slot."""
    staged = 0 if everything else STAGING_DEPTH * min(STAGING_GROUP, facts.experts)
    return (
        PlanItem("dense weights", facts.dense, "embeddings, attention, shared experts, routers, head"),
        PlanItem("adapter", facts.adapter, "LoRA, beside the base"),
        PlanItem("prerouter heads", facts.heads),
        PlanItem("KV cache", facts.cache_per_token * context, f"{context:,} tokens × {facts.cache_per_token:,} B"),
        PlanItem("recurrent state", facts.recurrent * (1 + SNAPSHOTS), f"live and {SNAPSHOTS} turn boundaries"),
        PlanItem(
            "staging", staged * facts.record + chunk * facts.activations_per_token, f"prefill of {chunk} tokens"
        ),
        PlanItem("allocator cache", ALLOCATOR_CACHE, "buffers MLX keeps for reuse"),
        PlanItem("interpreter", INTERPRETER, "Python, libraries, compiled kernels"),
    )


def budget_for(facts: ModelFacts, slots: int, context: int | None = None) -> int:
    """The least budget that gives `slots` slots."""
    wanted = context or min(DEFAULT_CONTEXT, facts.max_context)
    fixed = fixed_items(facts, wanted, CHUNK, everything=slots >= facts.all_records)
    return sum(item.bytes for item in fixed) + slots * facts.record


def everything_budget(facts: ModelFacts, context: int | None = None) -> int:
    """The least budget that gives every record a slot."""
    return budget_for(facts, facts.all_records, context)


def least_budget(facts: ModelFacts, context: int | None = None) -> int:
    """The least budget that holds one token's experts."""
    wanted = context or min(DEFAULT_CONTEXT, facts.max_context)
    return sum(item.bytes for item in fixed_items(facts, wanted, CHUNK)) + facts.step_set * facts.record


def default_budget(facts: ModelFacts, context: int, usable: int) -> int:
    """Enough for every record when the model is small, else DEFAULT_BUDGET (or a little more than the least that
    works, where that is higher), within a share of what is available."""
    streamed = max(DEFAULT_BUDGET, least_budget(facts, context) * 21 // 20)
    return min(everything_budget(facts, context), streamed, int(usable * SHARE_OF_AVAILABLE))


def plan_memory(
    facts: ModelFacts, usable: int, budget: int | None = None, context: int | None = None, chunk: int = CHUNK
) -> MemoryPlan:
    """Slots and items for `budget` bytes (None: `default_budget` of what is `usable` now).

    Raises UsageError for a context the model does not have or a budget of 0, PlanError with the itemised list
    and what would fit when one token's set does not fit.
    """
    if context is not None and not 1 <= context <= facts.max_context:
        raise UsageError(f"context is {context}", f"{facts.name} has between 1 and {facts.max_context:,} tokens.")
    if budget is not None and budget <= 0:
        raise UsageError(f"memory is {budget}", "Give a size such as 3GiB, or leave the option out.")
    wanted = context or min(DEFAULT_CONTEXT, facts.max_context)
    limit = budget if budget is not None else default_budget(facts, wanted, usable)
    fixed = fixed_items(facts, wanted, chunk, everything=True)
    slots = (limit - sum(item.bytes for item in fixed)) // facts.record
    if slots >= facts.all_records:
        slots = facts.all_records
    else:
        fixed = fixed_items(facts, wanted, chunk)
        slots = min((limit - sum(item.bytes for item in fixed)) // facts.record, facts.all_records - 1)
    if slots < facts.step_set:
        raise PlanError(*_refusal(facts, limit, fixed, wanted, budget is None))
    arena = PlanItem("arena", slots * facts.record, f"{slots:,} slots of {facts.record:,} B")
    return MemoryPlan(limit, wanted, slots, chunk, (fixed[0], arena, *fixed[1:]))


def _refusal(
    facts: ModelFacts, limit: int, fixed: tuple[PlanItem, ...], context: int, chosen: bool
) -> tuple[str, str]:
    needed = sum(item.bytes for item in fixed) + facts.step_set * facts.record
    lines = "; ".join(f"{item.name} {size(item.bytes)}" for item in fixed if item.bytes)
    whose = "which is what this machine can spare now" if chosen else "the budget given"
    message = (
        f"{facts.name} does not fit in {size(limit)}, {whose}: one token needs {facts.step_set} expert slots "
        f"({size(facts.step_set * facts.record)}) beside {lines}."
    )
    hint = f"It needs at least {size(needed)} at {context:,} tokens of context."
    spare = limit - (needed - facts.cache_per_token * context)
    fits = spare // facts.cache_per_token if facts.cache_per_token else 0
    if fits >= 256:
        hint += f" With --context {fits // 256 * 256} it would fit."
    return message, hint


def size(count: int) -> str:
    """Bytes for people, in binary units: 1.29 GiB, 48 MiB, 512 B."""
    for unit, scale in (("GiB", GiB), ("MiB", MiB), ("KiB", 1024)):
        if count >= scale:
            value = count / scale
            return f"{value:.2f} {unit}" if value < 10 and unit == "GiB" else f"{value:.0f} {unit}"
    return f"{count} B"
