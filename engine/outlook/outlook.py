"""A model on a machine: memory, speed, verdict. Pure, and fast enough to follow a slider."""

from __future__ import annotations

from dataclasses import replace

from engine.errors import PlanError
from engine.outlook.reasons import reasons
from engine.outlook.speed import Processors, estimate
from engine.outlook.types import USUAL, Exchange, Learned, Machine, Outlook, Speed
from engine.outlook.verdict import judge, pace_of
from engine.plan import (
    CHUNK,
    DEFAULT_CONTEXT,
    MemoryPlan,
    ModelFacts,
    default_budget,
    everything_budget,
    fixed_items,
    least_budget,
    plan_memory,
)
from engine.protocol import PlanItem, Routing

SHOWN_CONTEXTS = (4096, 32768)


def outlook(
    facts: ModelFacts,
    machine: Machine,
    *,
    budget: int | None = None,
    context: int | None = None,
    routing: Routing | None = None,
    learned: Learned | None = None,
    held: int = 0,
    cached: int = 0,
    download: int = 0,
    exchange: Exchange = USUAL,
) -> Outlook:
    """What to expect of `facts` on `machine`.

    budget    bytes the engine may use; None: what it would choose itself
    context   tokens to keep room for; None: the usual
    routing   None: predicted where the model has heads
    held      bytes that loading gives back first: the footprint of the engine that is replaced
    cached    bytes of the checkpoint that the page cache holds now
    download  bytes that have to be fetched to the volume first

    Raises UsageError for a context the model does not have, or a budget of nothing; what does not fit is a verdict
    and no error.
    """
    usable = machine.memory.usable + held
    wanted = context or min(DEFAULT_CONTEXT, facts.max_context)
    limit = budget if budget is not None else default_budget(facts, wanted, usable)
    plan, refusal = _plan(facts, usable, budget, context)
    left = max(0, usable - limit)
    speed = _speed(facts, machine, plan, left, routing, cached, exchange) if plan else None
    if speed and learned:
        speed = replace(speed, decode=speed.decode.times(learned.factor))
    judged = judge(machine, plan, refusal, limit, usable, speed, download)
    return Outlook(
        facts=facts,
        machine=machine,
        budget=limit,
        context=wanted,
        plan=plan,
        items=plan.items if plan else _least_items(facts, wanted),
        kv=_kv(facts, wanted),
        left=left,
        least=least_budget(facts, wanted),
        most=everything_budget(facts, wanted),
        speed=speed,
        learned=learned,
        reasons=reasons(facts, machine, plan, speed, learned),
        verdict=judged.verdict,
        sentence=judged.sentence,
        hint=judged.hint,
        pace=pace_of(speed),
    )


def _plan(
    facts: ModelFacts, usable: int, budget: int | None, context: int | None
) -> tuple[MemoryPlan | None, PlanError | None]:
    try:
        return plan_memory(facts, usable, budget, context), None
    except PlanError as error:
        return None, error


def _least_items(facts: ModelFacts, context: int) -> tuple[PlanItem, ...]:
    """What it would take to hold one token's experts."""
    fixed = fixed_items(facts, context, CHUNK)
    note = f"{facts.step_set:,} slots of {facts.record:,} B, one token's experts"
    return (fixed[0], PlanItem("arena", facts.step_set * facts.record, note), *fixed[1:])


def _kv(facts: ModelFacts, context: int) -> tuple[tuple[int, int], ...]:
    shown = sorted({*(tokens for tokens in SHOWN_CONTEXTS if tokens <= facts.max_context), context})
    return tuple((tokens, tokens * facts.cache_per_token) for tokens in shown)


def _speed(
    facts: ModelFacts,
    machine: Machine,
    plan: MemoryPlan,
    left: int,
    routing: Routing | None,
    cached: int,
    exchange: Exchange,
) -> Speed | None:
    compute = machine.compute(facts.shape)
    if machine.disk is None or compute is None:
        return None
    return estimate(
        facts,
        plan.slots,
        left,
        machine.disk,
        compute,
        routing=routing or ("predicted" if facts.predicted_layers else "exact"),
        processors=Processors.of(machine),
        cached=cached,
        exchange=exchange,
    )
