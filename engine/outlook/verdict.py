"""Fits, tight or no: one sentence each. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from engine.errors import PlanError
from engine.outlook.types import Machine, Pace, Speed, Verdict
from engine.outlook.words import pace
from engine.plan import INTERPRETER, GiB, MemoryPlan, size

SPARE = GiB
"""Left for the page cache and other programs, below which it is tight."""
READING = 4.5
"""Tokens a second at which people read."""
SLOW = 2.0
"""Tokens a second below which one waits for every word: less than half of READING."""
CRAWLING = 0.5
"""Tokens a second below which a reply is no conversation any more."""


@dataclass(frozen=True)
class Judgement:
    verdict: Verdict
    sentence: str
    hint: str = ""


def judge(
    machine: Machine,
    plan: MemoryPlan | None,
    refusal: PlanError | None,
    budget: int,
    usable: int,
    speed: Speed | None,
    download: int,
) -> Judgement:
    """The first thing that stands in the way, or what makes it tight, or how well it fits.

    `usable` are the bytes that can be had now; `download` those still to be fetched.
    """
    return (
        _impossible(machine, plan, refusal, budget, download)
        or _tight(machine, budget, usable, speed)
        or _fits(budget, usable, speed)
    )


def _impossible(
    machine: Machine, plan: MemoryPlan | None, refusal: PlanError | None, budget: int, download: int
) -> Judgement | None:
    memory, free = machine.memory, machine.volume.free
    if plan is None:
        assert refusal is not None
        return Judgement("no", refusal.message, refusal.hint)
    if memory.limit is not None and budget > memory.limit:
        group = f"{size(budget)} is more than the {size(memory.limit)} this process's control group may use."
        return Judgement("no", group, "Choose a smaller budget, or raise the group's limit.")
    if budget > memory.total:
        return Judgement(
            "no",
            f"{size(budget)} is more than the {size(memory.total)} of this machine.",
            "Choose a smaller budget.",
        )
    arrays = plan.total - INTERPRETER
    if machine.working_set is not None and arrays > machine.working_set:
        return Judgement(
            "no",
            f"{size(arrays)} is more than the {size(machine.working_set)} the accelerator may use.",
            "Choose a smaller budget or context.",
        )
    if free is not None and download > free:
        return Judgement(
            "no",
            f"{size(download)} are to be fetched and {machine.volume.path} has {size(free)} free.",
            "Free some space, or choose another volume.",
        )
    return None


def pace_of(speed: Speed | None) -> Pace:
    """How the likeliest speed compares with reading."""
    if speed is None:
        return "unknown"
    return "slow" if speed.decode.likely < SLOW else "fluent"


def _fits(budget: int, usable: int, speed: Speed | None) -> Judgement:
    memory = f"it takes {size(budget)} of the {size(usable)} available now"
    if speed is not None and pace_of(speed) == "slow":
        return Judgement("fits", f"Fits, but slow: {pace(speed.decode)}; {memory}.")
    return Judgement("fits", f"Fits: {memory}{_at(speed)}.")


def _tight(machine: Machine, budget: int, usable: int, speed: Speed | None) -> Judgement | None:
    if budget > usable:
        return Judgement(
            "tight",
            f"Tight: of {size(budget)}, {size(budget - usable)} are in use by others now.",
            "Close other programs, or choose a smaller budget.",
        )
    if machine.swapping is not None and machine.swapping.busy:
        return Judgement(
            "tight",
            f"Tight: the machine is swapping already, so the {size(usable)} it calls available are not idle.",
            "Close other programs.",
        )
    if usable - budget < SPARE:
        return Judgement(
            "tight",
            f"Tight: it takes {size(budget)} of the {size(usable)} available now, which leaves "
            f"{size(usable - budget)} for the page cache{_at(speed)}.",
        )
    if speed is not None and speed.decode.likely < CRAWLING:
        return Judgement("tight", f"Tight: it fits in memory, but is too slow to talk with{_at(speed)}.")
    return None


def _at(speed: Speed | None) -> str:
    if speed is None:
        return ", at a speed that is not known yet"
    return f", {'slow: ' if CRAWLING <= speed.decode.likely < SLOW else ''}{pace(speed.decode)}"
