"""One turn of a conversation, and what is known about how an answer came to be."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from datetime import UTC, datetime

from engine.protocol import Role, Sampling


def new_id() -> str:
    """Random enough that two instances never give the same id, short enough to read aloud."""
    return secrets.token_hex(6)


def now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True)
class Attribution:
    """Which model answered, how it was asked and what it cost: the record kept with every answer.

    `finish_reason` is the engine's (stop, length, cancelled, error) or `interrupted`: what a saved answer
    carries until its end is known, so that an answer cut off by a crash says so when it is read back.
    `dropped_messages` of the oldest were not in the prompt. An answer that was continued so many times has the
    tokens of all its parts and the other figures of the last one.
    """

    model: str = ""
    tier: str = ""
    adapter: str = ""
    revision: str = ""
    routing: str = ""
    sampling: Sampling = field(default_factory=Sampling)
    seed: int | None = None
    finish_reason: str = ""
    prompt_tokens: int = 0
    reused_tokens: int = 0
    dropped_messages: int = 0
    completion_tokens: int = 0
    thinking_tokens: int = 0
    ttft_s: float = 0.0
    tok_s: float = 0.0
    allocator_peak: int = 0
    agreement: float | None = None
    continued: int = 0


@dataclass(frozen=True)
class Turn:
    """What one side said. `parent` is the turn it answers or follows; None for the first."""

    role: Role
    text: str = ""
    thinking: str = ""
    parent: str | None = None
    attribution: Attribution | None = None
    id: str = field(default_factory=new_id)
    created: datetime = field(default_factory=now)

    @property
    def finished(self) -> bool:
        """False for an answer that was still being written when it was saved."""
        return self.attribution is None or self.attribution.finish_reason != "interrupted"
