"""`edge0-tui models`: what is installed and what a checkpoint is."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path
from typing import Any

from edge0_tui import units
from edge0_tui.console import Console, table
from edge0_tui.exit_codes import DONE
from edge0_tui.installed import BUILT_IN, Installed, installed_models, resolve
from edge0_tui.paths import find_paths
from engine.errors import CheckpointError


def ls(options: argparse.Namespace) -> int:
    """Every model that can be named or lies in the models folder, damaged ones with the reason."""
    console = Console()
    rows = [_row(model) for model in installed_models(find_paths())]
    if options.json:
        console.json(rows)
    else:
        lines = [("NAME", "TIER", "SIZE", "STATUS", "FROM", "PATH")]
        for row in rows:
            tier = row["tier"] or ("–" if row["status"] == "unfinished" else "damaged")
            size = units.size(row["bytes"])
            lines.append((row["name"], tier, size, row["status"], row["source"], row["path"]))
        console.data(table(lines))
        for row in rows:
            if row["problem"]:
                console.message(row["problem"])
    return DONE


def info(options: argparse.Namespace) -> int:
    """What the files of one checkpoint say. Raises `CheckpointError`."""
    from edge0_tui.manager.details import details

    facts = asdict(details(model_path(options.model), find_paths()))
    console = Console()
    if options.json:
        console.json(facts)
    else:
        console.data(table([(key, _shown(key, value)) for key, value in facts.items()]))
    return DONE


def model_path(model: str) -> Path:
    """The directory that MODEL means."""
    found = resolve(model, find_paths())
    if found != BUILT_IN:
        return Path(found)
    from engine.checkpoint.tiers import NANO

    return NANO


def _row(model: Installed) -> dict[str, Any]:
    from edge0_tui.manager.present import command_to_go_on
    from engine.checkpoint.checkpoint import open_checkpoint

    row = {**asdict(model), "path": str(model.path), "bytes": model.bytes}
    if model.status == "unfinished":
        command = command_to_go_on(model.path, find_paths(), model.name)
        problem = f"{model.name} is not all there ({model.note}): `{command}` fetches the rest."
        return {**row, "tier": "", "problem": problem}
    try:
        return {**row, "tier": open_checkpoint(model.path).tier, "problem": ""}
    except CheckpointError as error:
        return {**row, "tier": "", "problem": str(error)}


def _shown(key: str, value: Any) -> str:
    if key == "verified":
        return f"{value['at'][:10]}: {value['message']}" if value else "never"
    if isinstance(value, dict):
        return ", ".join(f"{name} ({count:,})" for name, count in value.items()) or "none"
    if isinstance(value, tuple):
        return ", ".join(value) or "none"
    if key == "bytes":
        return units.size(value)
    if key.endswith("_bytes"):
        return units.size(value)
    return f"{value:,}" if isinstance(value, int) else str(value or "unknown")
