"""Attaching a LoRA file to a model and taking it off again; the base is never touched."""

from __future__ import annotations

from collections.abc import Mapping

from engine.models.linear import Adaptable, LowRank


def attach(linears: Mapping[str, Adaptable], updates: Mapping[str, LowRank]) -> None:
    """Give each named projection its update and take every other one's away.

    All shapes were checked when the file was read; a name without a projection is a KeyError.
    """
    for name in updates:
        linears[name]  # a missing name must fail before anything is changed
    for name, linear in linears.items():
        linear.adapter = updates.get(name)
