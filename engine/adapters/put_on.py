"""Putting an adapter on a loaded model, and the report of what became of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

import mlx.core as mx

from engine.adapter_choice import ChosenAdapter
from engine.adapters.load import load_lora
from engine.adapters.lora import attach
from engine.checkpoint.faults import shown
from engine.models.linear import Adaptable
from engine.protocol import AdapterReport

NAMED = 8


def put_on(
    linears: Mapping[str, Adaptable],
    adapter: ChosenAdapter | None,
    activations: mx.Dtype,
    progress: Callable[[int], None],
) -> AdapterReport | None:
    """Read the adapter, then exchange it for the one that is on; None takes that off.

    Until all of it has been read nothing is changed, so an error, or `progress` raising, keeps the old one on. For
    that moment both are in memory: the room is there, because nothing is being prefilled.
    """
    started = time.perf_counter()
    attach(linears, {} if adapter is None else load_lora(adapter.file, activations, progress))
    return None if adapter is None else report(adapter, time.perf_counter() - started)


def report(adapter: ChosenAdapter, seconds: float) -> AdapterReport:
    """The counts, with the first few names as they can be shown."""
    file, match = adapter.file, adapter.match
    return AdapterReport(
        format=file.format,
        path=str(file.path),
        rank=file.rank,
        scale=file.scale,
        applied=len(match.applied),
        not_found=len(match.not_found),
        skipped=len(match.skipped),
        names=[shown(name) for name in (*match.not_found, *match.skipped)[:NAMED]],
        notes=list(match.notes),
        seconds=seconds,
    )
