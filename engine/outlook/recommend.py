"""Which of several models to load, and why. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from engine.outlook.types import Outlook
from engine.outlook.verdict import SLOW
from engine.outlook.words import figure
from engine.plan import size

SIZES = ("nano", "custom", "8b", "35b")
"""Tiers from the least to the most able."""
NAMES = {"nano": "nano", "8b": "8B", "35b": "35B"}


@dataclass(frozen=True)
class Candidate:
    """A model that could be loaded: `id` is what the caller calls it, `tier` 35b, 8b, nano or custom."""

    id: str
    tier: str
    outlook: Outlook

    @property
    def name(self) -> str:
        return NAMES.get(self.tier, self.id)

    @property
    def brisk(self) -> bool:
        """Fits, and is not known to be slow."""
        return self.outlook.verdict == "fits" and self.outlook.pace != "slow"


@dataclass(frozen=True)
class Recommendation:
    """`id` of the chosen candidate and the reason in one sentence."""

    id: str
    reason: str


def recommended(candidates: Sequence[Candidate], always: str = "") -> Recommendation | None:
    """The ablest model that runs well in the memory available now; else the fastest that runs at all.

    `always` is the id of one to be taken whatever the others are; it is passed over when there is no such
    candidate. None without candidates.
    """
    if not candidates:
        return None
    for candidate in candidates:
        if candidate.id == always:
            return Recommendation(always, f"{candidate.name}, because the settings say so: always this one.")
    ranked = sorted(candidates, key=_rank, reverse=True)
    chosen = next((c for c in ranked if c.brisk and c.tier != "nano"), None) or _second_choice(ranked)
    passed_over = ranked[: ranked.index(chosen)]
    return Recommendation(chosen.id, f"{chosen.name}: {_why(chosen)}{_why_not(passed_over)}.")


def _second_choice(ranked: Sequence[Candidate]) -> Candidate:
    """Nothing runs well: the fastest of what is possible, nano only when there is nothing else."""
    possible = [c for c in ranked if c.outlook.possible and c.tier != "nano"]
    fallback = next((c for c in ranked if c.tier == "nano"), ranked[-1])
    return max(possible, key=_pace, default=fallback)


def _rank(candidate: Candidate) -> tuple[int, int]:
    tier = candidate.tier if candidate.tier in SIZES else "custom"
    facts = candidate.outlook.facts
    return SIZES.index(tier), facts.all_records * facts.record


def _pace(candidate: Candidate) -> float:
    speed = candidate.outlook.speed
    return speed.decode.likely if speed else 0.0


def _why(chosen: Candidate) -> str:
    found, memory = chosen.outlook, chosen.outlook.machine.memory
    fit = f"needs {size(found.budget)} of {size(memory.usable)} available now"
    if found.speed is None:
        return f"{fit}; its speed is not measured yet"
    return f"{fit} and gives about {figure(found.speed.decode.likely)} tokens a second"


def _why_not(passed_over: Sequence[Candidate]) -> str:
    reasons = []
    for candidate in passed_over:
        speed = candidate.outlook.speed
        if not candidate.outlook.possible:
            reasons.append(f"{candidate.name} does not fit")
        elif speed is not None and speed.decode.likely < SLOW:
            reasons.append(f"{candidate.name} would give about {figure(speed.decode.likely)}")
        else:
            reasons.append(f"{candidate.name} would be tight")
    return f"; {', '.join(reasons)}" if reasons else ""
