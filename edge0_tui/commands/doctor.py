"""`edge0-tui doctor`: what a report about a problem needs to contain."""

from __future__ import annotations

import argparse
import platform
from importlib import metadata
from typing import Any

from edge0_tui import units
from edge0_tui.adapters import in_folder
from edge0_tui.commands.plan_json import machine_json
from edge0_tui.commands.plan_text import machine_text
from edge0_tui.console import Console, table
from edge0_tui.exit_codes import DONE, ENGINE
from edge0_tui.installed import installed_models
from edge0_tui.paths import find_paths
from edge0_tui.planning import TIERS, planned
from edge0_tui.settings_file import read
from engine.errors import EngineError
from engine.outlook.engine_facts import DeviceFacts, ask_engine, device_facts
from engine.outlook.machine import this_machine
from engine.outlook.outlook import outlook
from engine.outlook.types import Machine
from engine.probe import Memory

_DISTRIBUTIONS = ("edge0-tui", "mlx", "textual", "tokenizers", "numpy", "numba", "scipy-openblas32", "psutil")


def run(options: argparse.Namespace) -> int:
    """Everything is asked anew; the engine in a process of its own. Exit code 5 if the engine does not start."""
    console = Console()
    console.progress("asking the engine")
    engine = _engine()
    machine = _machine(device_facts(engine))
    facts: dict[str, Any] = {
        "versions": {"python": platform.python_version(), **_versions()},
        "platform": {"system": platform.platform(), "machine": platform.machine()},
        "engine": engine,
        "machine": machine_json(machine),
        "memory": _memory(machine.memory),
        "paths": _paths(),
        "models": {model.name: str(model.path) for model in installed_models(find_paths())},
        "adapters": _adapters(),
        "plans": _plans(machine),
    }
    if options.json:
        console.json(facts)
    else:
        for section, values in facts.items():
            if section == "machine":
                console.data(machine_text(machine))
                continue
            rows: list[tuple[str, ...]] = [(f"  {key}", _shown(section, value)) for key, value in values.items()]
            console.data(section + "\n" + table(rows or [("  none",)]))
    return ENGINE if "problem" in facts["engine"] else DONE


def _versions() -> dict[str, str | None]:
    return {name: _version(name) for name in _DISTRIBUTIONS}


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _engine() -> dict[str, Any]:
    try:
        return ask_engine().raw
    except EngineError as error:
        return {"problem": str(error)}


def _machine(device: DeviceFacts) -> Machine:
    places = find_paths()
    return this_machine(places.models, places.data, device=device)


def _plans(machine: Machine) -> dict[str, str]:
    """The verdict on each tier; where it would be fetched, the plan is made for the models folder."""
    places, found = find_paths(), {}
    for tier in TIERS:
        try:
            what = planned(tier, places)
            out = outlook(what.model.facts(machine.activation_bytes), machine, download=what.download)
            found[tier] = f"{out.sentence} {out.hint}".strip()
        except EngineError as error:
            found[tier] = str(error)
    return found


def _adapters() -> dict[str, dict[str, Any]]:
    """Whatever lies in the adapters folder, readable or not."""
    return {
        item.name: {
            "path": str(item.path),
            "kind": item.kind,
            "format": item.format,
            "bytes": item.bytes,
            "base": item.base,
            "problem": item.problem,
        }
        for item in in_folder(find_paths())
    }


def _adapter_text(facts: dict[str, Any]) -> str:
    if facts["problem"]:
        return str(facts["problem"])
    made_for = f", made for {facts['base']}" if facts["base"] else ""
    kind = "prerouter heads" if facts["kind"] == "prerouter" else "adapter"
    return f"{facts['format']} {kind}, {units.size(facts['bytes'])}{made_for}"


def _memory(memory: Memory) -> dict[str, int | None]:
    return {
        "total": memory.total,
        "available": memory.available,
        "swap_used": memory.swap_used,
        "control_group_limit": memory.limit,
        "usable": memory.usable,
    }


def _paths() -> dict[str, str]:
    places = find_paths(read(find_paths().settings).settings.storage.data_dir)
    return {
        "data": str(places.data),
        "transcripts": str(places.transcripts),
        "models": str(places.models),
        "adapters": str(places.adapters),
        "settings": str(places.settings),
        "engine log": str(places.engine_log),
    }


def _shown(section: str, value: Any) -> str:
    if value is None:
        return "none"
    if section == "adapters":
        return _adapter_text(value)
    return units.size(value) if section == "memory" else str(value)
