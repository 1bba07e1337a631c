"""`edge0-tui adapters`: the LoRA and prerouter files beside the checkpoints."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from edge0_tui import units
from edge0_tui.commands.models import model_path
from edge0_tui.console import Console, table
from edge0_tui.exit_codes import DONE
from edge0_tui.installed import installed_models
from edge0_tui.paths import find_paths
from engine.errors import CheckpointError


def ls(options: argparse.Namespace) -> int:
    """Adapters of one model, or of all installed ones, and whether their metadata can be read."""
    console = Console()
    if options.model:
        places = [(options.model, model_path(options.model))]
    else:
        places = [(model.name, model.path) for model in installed_models(find_paths())]
    rows = [row for name, path in places for row in _rows(name, path)]
    if options.json:
        console.json(rows)
    elif rows:
        lines = [("MODEL", "KIND", "FILE", "SIZE", "K", "MADE FOR")]
        for row in rows:
            made_for = row["problem"] or row["made_for"] or "?"
            k = str(row["experts_per_token"] or "?")
            lines.append((row["model"], row["kind"], row["file"], units.size(row["bytes"]), k, made_for))
        console.data(table(lines))
    else:
        console.message("No adapters beside the installed models.")
    return DONE


def _rows(model: str, directory: Path) -> list[dict[str, Any]]:
    from engine.checkpoint.files import find_files

    try:
        files = find_files(directory)
    except CheckpointError:
        return []  # `models ls` says what is wrong with it
    kinds = (("lora", files.adapters), ("prerouter", files.heads))
    return [_row(model, kind, file) for kind, found in kinds for file in found]


def _row(model: str, kind: str, file: Path) -> dict[str, Any]:
    from engine.checkpoint.adapter_metadata import parse_metadata
    from engine.checkpoint.headers import read_header

    row = {"model": model, "kind": kind, "file": file.name, "path": str(file), "bytes": file.stat().st_size}
    try:
        said = parse_metadata(file, read_header(file).metadata)
    except CheckpointError as error:
        return {**row, "experts_per_token": None, "made_for": "", "problem": str(error)}
    return {**row, "experts_per_token": said.experts_per_token, "made_for": said.model, "problem": ""}
