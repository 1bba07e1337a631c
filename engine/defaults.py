"""How a model samples unless the user says otherwise."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from engine.checkpoint.strict_json import read_object
from engine.protocol import Sampling

RELEASED = {
    "35b": Sampling(temperature=0.7, top_k=64, top_p=0.95),
    "8b": Sampling(temperature=0.7, top_k=64, top_p=0.95, repetition_penalty=1.1),
}
"""The releases' own defaults."""


def default_sampling(tier: str, directory: Path) -> Sampling:
    """The tier's, or what generation_config.json of the checkpoint says, or this project's."""
    if tier in RELEASED:
        return RELEASED[tier]
    path = directory / "generation_config.json"
    return from_generation_config(read_object(path)) if path.exists() else Sampling()


def from_generation_config(config: dict[str, Any]) -> Sampling:
    """The sampling fields of a generation_config.json; values of another type are passed over."""
    base = Sampling()

    def number(name: str, otherwise: float) -> float:
        value = config.get(name)
        return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else otherwise

    greedy = config.get("do_sample") is False
    return Sampling(
        temperature=0.0 if greedy else max(0.0, number("temperature", base.temperature)),
        top_k=max(0, int(number("top_k", base.top_k))),
        top_p=min(1.0, max(0.01, number("top_p", base.top_p))),
        min_p=min(1.0, max(0.0, number("min_p", base.min_p))),
        repetition_penalty=max(0.01, number("repetition_penalty", base.repetition_penalty)),
    )
