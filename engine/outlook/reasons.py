"""Why an outlook is what it is, in sentences, and what could not be read. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from engine.experts.limits import READERS
from engine.outlook.types import DiskSpeed, Learned, Machine, Speed
from engine.outlook.words import figure, rate, seconds
from engine.plan import MemoryPlan, ModelFacts, size


def reasons(
    facts: ModelFacts, machine: Machine, plan: MemoryPlan | None, speed: Speed | None, learned: Learned | None
) -> tuple[str, ...]:
    """In the order of their weight: what is read, how fast, what is computed, what was learned, what is unknown."""
    found: list[str] = []
    if plan is not None and speed is not None and machine.disk is not None:
        found += _of_speed(facts, plan, speed, machine.disk)
        if learned is not None:
            found.append(_of_learning(learned))
    return (*found, *_unknown(facts, machine, plan is not None))


def _of_speed(facts: ModelFacts, plan: MemoryPlan, speed: Speed, disk: DiskSpeed) -> Iterator[str]:
    needed = f"A token uses {facts.step_set:,} experts, {size(speed.needed)}"
    if plan.slots >= facts.all_records:
        yield f"{needed}; every expert has a slot, so nothing is read once it was used."
    else:
        yield (
            f"{needed}: {speed.hits:.0%} of them are in one of {plan.slots:,} slots, and of the others "
            f"{speed.cached:.0%} in the page cache. This takes routing as even; text that comes back to the same "
            "experts does better."
        )
        hidden = f", {seconds(speed.hidden_s)} of it hidden behind computing" if speed.hidden_s else ""
        yield (
            f"Reading takes {seconds(speed.read_s)} a token{hidden}: the disk gives {rate(disk.at(READERS))} with "
            f"{READERS} reads in flight and {rate(disk.at(1))} with one, the page cache {rate(disk.cached)}."
        )
    yield f"Computing takes {seconds(speed.compute_s)} a token, measured with layers of this model's dimensions."
    if speed.routing == "predicted":
        layers = f"{facts.predicted_layers} of {facts.moe_layers} layers"
        yield f"Routing is predicted in {layers}, whose experts are read ahead."
    elif facts.predicted_layers == 0:
        yield "There are no prerouter heads, so every layer waits for its own experts."


def _of_learning(learned: Learned) -> str:
    replies = "reply" if learned.replies == 1 else f"{learned.replies} replies"
    return (
        f"Corrected by {learned.factor:.2f} after {replies} here: the last one came at {figure(learned.achieved)} "
        f"tokens a second where {figure(learned.expected)} had been reckoned."
    )


def _unknown(facts: ModelFacts, machine: Machine, fits: bool) -> Iterator[str]:
    if fits and machine.disk is None:
        yield "The disk has not been measured, so the speed is unknown."
    if fits and machine.compute(facts.shape) is None:
        yield "The kernels have not been measured with this model's dimensions, so the speed is unknown."
    if machine.swapping is None:
        yield "Whether the machine swaps is unknown."
    elif machine.swapping.busy:
        yield "The machine is swapping now."
    if machine.volume.free is None:
        yield f"The free space of {machine.volume.path} is unknown."
