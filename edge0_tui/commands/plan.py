"""`edge0-tui models plan`: what to expect of a model on this machine, before it is fetched or loaded."""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from edge0_tui.commands.plan_json import machine_json, outlook_json
from edge0_tui.commands.plan_text import machine_text, outlook_text, overview_text
from edge0_tui.console import Console
from edge0_tui.exit_codes import DONE, PLAN
from edge0_tui.paths import Paths, find_paths
from edge0_tui.planning import TIERS, Planned, planned
from engine.errors import EngineError, UsageError
from engine.outlook.engine_facts import DeviceFacts, ask_engine, usual_device
from engine.outlook.learned import learned, learning_key
from engine.outlook.machine import this_machine
from engine.outlook.measure import measure
from engine.outlook.outlook import outlook
from engine.outlook.recommend import Candidate, recommended
from engine.outlook.types import Machine, Outlook


def run(options: argparse.Namespace) -> int:
    """Exit code 3 when the model named does not fit.

    Raises CheckpointError for a directory that is no checkpoint, UsageError for values that cannot take effect.
    """
    console, places = Console(), find_paths()
    volume = _volume(options.volume)
    device = _device(console)
    names = [options.model] if options.model else list(TIERS)
    found = [_one(options, planned(name, places, volume), places, device, console) for name in names]
    if options.model:
        out = found[0].outlook
        if options.json:
            console.json({"machine": machine_json(out.machine), "model": options.model, **outlook_json(out)})
        else:
            console.data(machine_text(out.machine) + "\n" + outlook_text(out))
        return DONE if out.possible else PLAN
    _overview(found, options.json, console)
    return DONE


def _overview(found: list[Candidate], as_json: bool, console: Console) -> None:
    best = recommended(found)
    assert best is not None
    if as_json:
        plans = [
            {"model": c.id, "machine": machine_json(c.outlook.machine), **outlook_json(c.outlook)} for c in found
        ]
        console.json({"plans": plans, "recommended": {"model": best.id, "reason": best.reason}})
    else:
        console.data(machine_text(found[0].outlook.machine) + "\n" + overview_text(found, best))


def _one(
    options: argparse.Namespace, what: Planned, places: Paths, device: DeviceFacts, console: Console
) -> Candidate:
    machine = this_machine(what.volume, places.data, device=device)
    if options.measure:
        began = time.monotonic()

        def say(text: str) -> None:
            console.step(f"{what.id}: {text} ({time.monotonic() - began:.0f} s so far, up to a minute where slow)")

        say("measuring the disk, then the kernels")
        machine = measure(machine, what.model, what.probe_name, places.data, again=True, progress=say)
        console.progress("")
    return Candidate(what.id, what.tier, _outlook(options, what, machine, places.data))


def _outlook(options: argparse.Namespace, what: Planned, machine: Machine, folder: Path) -> Outlook:
    """With what replies have taught about this plan."""

    def make(known: Any = None) -> Outlook:
        return outlook(
            what.model.facts(machine.activation_bytes),
            machine,
            budget=options.memory,
            context=options.context,
            routing=options.routing,
            learned=known,
            cached=what.cached,
            download=what.download,
        )

    plain = make()
    known = learned(folder, learning_key(plain))
    return make(known) if known else plain


def _device(console: Console) -> DeviceFacts:
    console.progress("asking the engine")
    try:
        return ask_engine()
    except EngineError as error:
        console.message(f"{error} What its accelerator may use is unknown.")
        return replace(usual_device(), working_set=None)


def _volume(text: str | None) -> Path | None:
    if text is None:
        return None
    folder = Path(text).expanduser()
    if not folder.is_dir():
        raise UsageError(f"--volume: {text} is no directory.", "Name a folder on the disk you mean.")
    return folder
