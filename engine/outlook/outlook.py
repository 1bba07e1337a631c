"""A model on a machine: memory, speed, verdict. Pure, and fast enough to follow a slider."""

from __future__ import annotations

from engine.outlook.types import Learned, Machine, Outlook
from engine.plan import ModelFacts
from engine.protocol import Routing


def outlook(
    facts: ModelFacts,
    machine: Machine,
    *,
    budget: int | None = None,
    context: int | None = None,
    routing: Routing | None = None,
    learned: Learned | None = None,
    held: int = 0,
) -> Outlook:
    """What to expect of `facts` on `machine`.

    budget   bytes the engine may use; None: what it would choose itself
    context  tokens to keep room for; None: the usual
    routing  None: predicted where the model has heads
    held     bytes that loading gives back first: the footprint of the engine that is replaced

    Raises UsageError for a context the model does not have; what does not fit is a verdict, not an error.
    """
    raise NotImplementedError
