"""`edge0-tui models verify` and `rm`: whether the files are what they should be, and deleting them."""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict
from pathlib import Path

from edge0_tui import units
from edge0_tui.commands.models_get import line
from edge0_tui.console import Console, table
from edge0_tui.exit_codes import DONE, FILES
from edge0_tui.installed import BUILT_IN, installed_models
from edge0_tui.paths import Paths, find_paths
from engine.errors import UsageError


def verify(options: argparse.Namespace) -> int:
    """Every file is read and hashed. Exit code 4 if one is not as it should be. Raises `CheckpointError`."""
    from edge0_tui.manager.verdict import BAD
    from edge0_tui.manager.verify import verify as hash_all

    console, paths = Console(), find_paths()
    verdict = hash_all(named(options.model, paths), paths, lambda progress: console.progress(line(progress)))
    if options.json:
        console.json(asdict(verdict))
    else:
        rows = [(file.name, units.size(file.bytes), file.outcome, file.detail) for file in verdict.files]
        console.data(table([("FILE", "SIZE", "IS", ""), *rows]))
    bad = sum(file.outcome in BAD for file in verdict.files)
    rate = units.rate(verdict.bytes / verdict.seconds if verdict.seconds else None)
    console.message(f"{verdict.message} ({units.size(verdict.bytes)} at {rate}{f', {bad} bad' if bad else ''})")
    return DONE if verdict.ok else FILES


def rm(options: argparse.Namespace) -> int:
    """Asks first, unless --yes. Raises `UsageError` for what is not ours, `InUseError` for what is loaded."""
    from edge0_tui.manager.remove import removal, remove

    console, paths = Console(), find_paths()
    path = named(options.model, paths)
    plan = removal(path, paths)
    if not options.yes:
        if not sys.stdin.isatty():
            raise UsageError("Deleting needs a confirmation.", "Add --yes.")
        console.aside(f"Delete {path}: {len(plan.files)} files, {units.size(plan.bytes)}? [y/N] ")
        if sys.stdin.readline().strip().lower() not in ("y", "yes"):
            console.message("Nothing was deleted.")
            return DONE
    done = remove(path, paths)
    if options.json:
        console.json(asdict(done))
    else:
        console.message(f"{units.size(done.bytes)} freed.")
    if done.kept:
        console.message(f"Kept, since they are not part of the model: {', '.join(done.kept)}")
    return DONE


def named(model: str, paths: Paths) -> Path:
    """The directory MODEL means, also of one that is unfinished or damaged. Raises `UsageError`."""
    listed = [item for item in installed_models(paths) if model in (item.name, item.repo)]
    # What can be deleted comes first: 8b may also lie elsewhere.
    listed.sort(key=lambda item: not item.removable)
    if listed:
        return listed[0].path
    path = paths.models / model
    if "/" not in model and model not in (".", "..") and path.is_dir():
        return path
    path = Path(model).expanduser()
    if model != BUILT_IN and path.is_dir():
        return path.absolute()
    raise UsageError(f"{model}: there is no such model here.", "`edge0-tui models ls` lists them.")
