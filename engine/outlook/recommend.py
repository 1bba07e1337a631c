"""Which of several models to load, and why. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from engine.outlook.types import Outlook


@dataclass(frozen=True)
class Candidate:
    """A model that could be loaded: `id` is what the caller calls it, `tier` 35b, 8b, nano or custom."""

    id: str
    tier: str
    outlook: Outlook


@dataclass(frozen=True)
class Recommendation:
    """`id` of the chosen candidate and the reason in one sentence."""

    id: str
    reason: str


def recommended(candidates: Sequence[Candidate], always: str = "") -> Recommendation | None:
    """The best model this machine can run well now; `always` names one that is taken whatever it is.

    None without candidates.
    """
    raise NotImplementedError
