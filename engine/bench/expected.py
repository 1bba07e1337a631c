"""The plan's expected tokens a second against what a reply achieves, in the same run."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from engine.bench.ours import drop_cached_pages
from engine.bench.table import Result, at_most
from engine.outlook.engine_facts import ask_engine
from engine.outlook.machine import this_machine
from engine.outlook.measure import measure
from engine.outlook.model import open_model
from engine.outlook.outlook import outlook
from engine.outlook.types import Exchange
from engine.outlook.words import figure, rate, seconds
from engine.plan import size
from engine.protocol import Routing

BAR = 1.25
EXCHANGE = Exchange(prompt=16, reply=24)

Achieved = Callable[..., Any]
"""Arguments of `engine.bench.ours` → what it measured."""


def expected_against_achieved(path: Path, routing: Routing, achieved: Achieved) -> list[Result]:
    """Disk and layers are measured anew, then a short reply, both with nothing of the checkpoint in the page cache.

    In a memory control group both are measured in it.
    """
    model, device = open_model(path), ask_engine()
    drop_cached_pages(path)
    with tempfile.TemporaryDirectory(prefix="edge0-plan-") as store:
        machine = this_machine(path, Path(store), device=device)
        machine = measure(machine, model, str(path), Path(store), again=True)
    facts = model.facts(device.activation_bytes)
    found = outlook(facts, machine, routing=routing, exchange=EXCHANGE)
    assert found.speed is not None and machine.disk is not None, found.sentence
    lengths = ("--prompt", str(EXCHANGE.prompt), "--steps", str(EXCHANGE.reply))
    reply = achieved(str(path), "--routing", routing, *lengths, "--drop-cache")
    reckoned, took = 1 / found.speed.decode.likely, reply["decode_s"]
    note = (
        f"{seconds(reckoned)} expected ({seconds(1 / found.speed.decode.high)} to "
        f"{seconds(1 / found.speed.decode.low)}), {seconds(took)} a token achieved; budget {size(found.budget)}, "
        f"page cache {size(found.left)}, disk {rate(machine.disk.at(8))}; first token "
        f"{figure(found.speed.first_token.likely)} s expected, {figure(reply['prefill_s'])} s achieved"
    )
    ratio = max(reckoned / took, took / reckoned)
    result = at_most(f"expected against achieved, {routing} routing", ratio, BAR, "×", note)
    figures = {
        "expected_s": reckoned,
        "expected_least_s": 1 / found.speed.decode.high,
        "expected_most_s": 1 / found.speed.decode.low,
        "achieved_s": took,
        "first_token_expected_s": found.speed.first_token.likely,
        "first_token_achieved_s": reply["prefill_s"],
        "budget": found.budget,
        "page_cache": found.left,
        "disk_bytes_per_second": machine.disk.at(8),
    }
    return [replace(result, figures=figures)]
