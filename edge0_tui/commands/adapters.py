"""`edge0-tui adapters`: which there are and what they fit; adding to and removing from the adapters folder."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path
from typing import Any

from edge0_tui import units
from edge0_tui.adapters import Adapter, Fit, Offer, fit_of, in_folder, inspect, list_adapters
from edge0_tui.commands.models import model_path
from edge0_tui.console import Console, table
from edge0_tui.exit_codes import DONE, FILES
from edge0_tui.installed import installed_models
from edge0_tui.paths import Paths, find_paths
from engine.errors import CheckpointError, UsageError

_HEADINGS = ("MODEL", "NAME", "KIND", "FORMAT", "FROM", "SIZE", "RANK", "TARGETS", "K", "MADE FOR", "FITS")


def ls(options: argparse.Namespace) -> int:
    """What one model, or each installed one, can be offered: beside it and in the folder, and whether it fits."""
    console, paths = Console(), find_paths()
    offers = _offers(options.model, paths)
    rows = [_row(offer) for offer in offers]
    if options.json:
        console.json(rows)
    elif rows:
        console.data(table([_HEADINGS, *map(_line, offers)]))
    else:
        console.message(f"No adapters beside the installed models or in {paths.adapters}.")
    return DONE


def info(options: argparse.Namespace) -> int:
    """What an adapter is, and with -m what of it a model takes. Exit code 4 when it is damaged or does not fit."""
    console, paths = Console(), find_paths()
    adapter = _find(options.which, options.model, paths)
    fit = None
    if options.model and not adapter.problem:
        from engine.checkpoint.checkpoint import open_checkpoint

        checkpoint = open_checkpoint(model_path(options.model))
        fit = fit_of(adapter.path, checkpoint, options.model, adapter.kind)
    if options.json:
        console.json({**_facts(adapter), "fit": asdict(fit) if fit else None})
    else:
        console.data(table([*_described(adapter), *(_outcome(fit) if fit else [])]))
    return FILES if adapter.problem or (fit and not fit.fits) else DONE


def add(options: argparse.Namespace) -> int:
    """Copy a file or folder into the adapters folder once it has been checked."""
    from edge0_tui.adapter_folder import add_adapter

    console, paths = Console(), find_paths()
    model = model_path(options.model) if options.model else None
    adapter = add_adapter(Path(options.path).expanduser(), paths, options.name or "", model)
    if options.json:
        console.json(_facts(adapter))
    else:
        console.message(f"Added {adapter.name} ({units.size(adapter.bytes)}) to {paths.adapters}.")
    if not model and not any(offer.fit.fits for offer in _offers("", paths) if offer.adapter.path == adapter.path):
        console.message("It fits none of the models installed now.")
    return DONE


def rm(options: argparse.Namespace) -> int:
    """Delete from the adapters folder, and from nowhere else. Raises CheckpointError, UsageError."""
    from edge0_tui.adapter_folder import remove_adapter

    console, paths = Console(), find_paths()
    if options.name not in {adapter.name for adapter in in_folder(paths)}:
        for offer in _offers("", paths):
            if offer.adapter.name == options.name:
                where = f"{options.name} lies beside the checkpoint {offer.fit.model} and belongs to it."
                raise UsageError(where, f"Only adapters in {paths.adapters} are removed.")
    freed = remove_adapter(options.name, paths)
    if options.json:
        console.json({"name": options.name, "freed_bytes": freed})
    else:
        console.message(f"Removed {options.name}; {units.size(freed)} are free again.")
    return DONE


def _offers(model: str, paths: Paths) -> list[Offer]:
    if model:
        return list_adapters(model_path(model), model, paths)
    offers: list[Offer] = []
    for installed in installed_models(paths):
        try:
            offers += list_adapters(installed.path, installed.name, paths)
        except CheckpointError:
            continue  # `models ls` says what is wrong with it
    return offers


def _find(name: str, model: str, paths: Paths) -> Adapter:
    """A name as the model (or any installed one) knows it, one of the folder, or a path."""
    known = [*(offer.adapter for offer in _offers(model, paths)), *in_folder(paths)]
    for adapter in known:
        if adapter.name == name:
            return adapter
    path = Path(name).expanduser()
    if not path.exists():
        raise CheckpointError(f"There is no adapter {name!r}.", "`edge0-tui adapters ls` shows those there are.")
    return inspect(path, kind="prerouter" if path.name.startswith("prerouter_") else "lora")


def _facts(adapter: Adapter) -> dict[str, Any]:
    """For JSON; `file` and `made_for` are what earlier versions called them."""
    facts = asdict(adapter)
    base = facts.pop("base")
    return {**facts, "path": str(adapter.path), "file": adapter.path.name, "made_for": base, "tier": adapter.tier}


def _row(offer: Offer) -> dict[str, Any]:
    fit = asdict(offer.fit)
    return {"model": fit.pop("model"), **_facts(offer.adapter), **fit}


def _line(offer: Offer) -> tuple[str, ...]:
    a = offer.adapter
    return (
        offer.fit.model,
        a.name,
        a.kind,
        a.format or "?",
        a.place,
        units.size(a.bytes),
        units.count(a.rank),
        units.count(a.targets),
        units.count(a.experts_per_token),
        a.base or "?",
        _verdict(offer.fit),
    )


def _verdict(fit: Fit) -> str:
    if not fit.fits:
        return f"no: {fit.reason}"
    rest = ((fit.not_found, "not found"), (fit.skipped, "skipped"))
    return ", ".join([f"yes: {fit.applied:,} applied", *(f"{count:,} {what}" for count, what in rest if count)])


def _described(adapter: Adapter) -> list[tuple[str, str]]:
    rows = [
        ("name", adapter.name),
        ("path", str(adapter.path)),
        ("kind", adapter.kind),
        ("format", adapter.format or "unknown"),
        ("size", units.size(adapter.bytes)),
        ("made for", adapter.base or "unknown"),
        ("rank", units.count(adapter.rank)),
        ("scale", units.UNKNOWN if adapter.scale is None else f"{adapter.scale:g}"),
        ("targets", units.count(adapter.targets)),
    ]
    rows += [(f"  {name}", units.count(count)) for name, count in adapter.modules.items()]
    return [*rows, ("problem", adapter.problem)] if adapter.problem else rows


def _outcome(fit: Fit) -> list[tuple[str, str]]:
    rows = [
        ("model", fit.model),
        ("fits", "yes" if fit.fits else "no"),
        ("applied", units.count(fit.applied)),
        ("not found", units.count(fit.not_found)),
        ("skipped", units.count(fit.skipped)),
    ]
    rows += [("  not applied", name) for name in fit.names]
    return [*rows, ("note", fit.reason)] if fit.reason else rows
