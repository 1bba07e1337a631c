"""`edge0-tui models`: what is installed and what a checkpoint is."""

from __future__ import annotations

import argparse
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
        lines = [("NAME", "TIER", "SIZE", "FROM", "PATH")]
        for row in rows:
            tier = row["tier"] or "damaged"
            lines.append((row["name"], tier, units.size(row["bytes"]), row["source"], row["path"]))
        console.data(table(lines))
        for row in rows:
            if row["problem"]:
                console.message(row["problem"])
    return DONE


def info(options: argparse.Namespace) -> int:
    """What the files of one checkpoint say. Raises `CheckpointError`."""
    path = model_path(options.model)
    facts = describe(path)
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


def describe(path: Path) -> dict[str, Any]:
    """Facts of a checkpoint by name; sizes in bytes."""
    from engine.checkpoint.checkpoint import open_checkpoint

    checkpoint = open_checkpoint(path)
    config, files = checkpoint.config, checkpoint.files
    return {
        "name": checkpoint.name,
        "tier": checkpoint.tier,
        "family": checkpoint.family,
        "path": str(path),
        "revision": checkpoint.revision,
        "layers": config.num_hidden_layers,
        "experts_per_layer": config.num_experts,
        "experts_per_token": checkpoint.experts_per_token,
        "context": config.max_position_embeddings,
        "dense_bytes": checkpoint.dense_bytes,
        "expert_bytes": checkpoint.expert_bytes,
        "record_bytes": checkpoint.records.layout.nbytes,
        "adapters": [file.name for file in files.adapters],
        "heads": [file.name for file in files.heads],
        "notes": list(checkpoint.notes),
    }


def _row(model: Installed) -> dict[str, Any]:
    row = {"name": model.name, "path": str(model.path), "source": model.source, "bytes": model.bytes}
    try:
        return {**row, "tier": describe(model.path)["tier"], "problem": ""}
    except CheckpointError as error:
        return {**row, "tier": "", "problem": str(error)}


def _shown(key: str, value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(value) or "none"
    if key.endswith("_bytes"):
        return units.size(value)
    return f"{value:,}" if isinstance(value, int) else str(value or "unknown")
