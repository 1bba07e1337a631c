"""Which adapters a checkpoint can have, and which one a name means. Reads headers only; no MLX."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from engine.checkpoint.adapter_match import LoraMatch, fitted, match_lora, require_lora
from engine.checkpoint.adapter_source import is_safetensors, stored_adapters, stored_name
from engine.checkpoint.checkpoint import Checkpoint
from engine.checkpoint.lora import LoraFile
from engine.checkpoint.read_lora import read_lora
from engine.errors import CheckpointError
from engine.facts import adapter_bytes

NONE = "none"


@dataclass(frozen=True)
class ChosenAdapter:
    """An adapter that belongs to the checkpoint: what is applied of it, and what became of all its targets."""

    name: str
    file: LoraFile
    match: LoraMatch


def choose_adapter(checkpoint: Checkpoint, name: str, adapters_dir: str = "") -> ChosenAdapter | None:
    """What `name` means (see `adapter_file`). Raises CheckpointError for what is damaged or of another tier."""
    path = adapter_file(checkpoint, name, adapters_dir)
    if path is None:
        return None
    file = read_lora(path)
    match = require_lora(file, checkpoint)
    names = {place: known for known, place in known_adapters(checkpoint, adapters_dir).items()}
    return ChosenAdapter(names.get(path, file.name), fitted(file, match), match)


def known_adapters(checkpoint: Checkpoint, adapters_dir: str = "") -> dict[str, Path]:
    """Files and folders by the name that means them: those beside the checkpoint, then those in the folder.

    Where two have one name, that of the later one is its path.
    """
    found: dict[str, Path] = {}
    stored = stored_adapters(Path(adapters_dir)) if adapters_dir else ()
    for path in (*checkpoint.files.adapters, *stored):
        name = stored_name(path)
        found[name if name not in found else str(path)] = path
    return found


def fitting_adapters(checkpoint: Checkpoint, adapters_dir: str = "") -> dict[str, LoraFile]:
    """Those of `known_adapters` that can be put on; a damaged or foreign one must not disturb the others."""
    found: dict[str, LoraFile] = {}
    for name, path in known_adapters(checkpoint, adapters_dir).items():
        try:
            file = read_lora(path)
            match = match_lora(file, checkpoint)
        except CheckpointError:
            continue
        if match.applied and not match.misshapen:
            found[name] = fitted(file, match)
    return found


def selectable(checkpoint: Checkpoint, adapters_dir: str = "") -> list[str]:
    """Names for a menu: all beside the checkpoint, so that a damaged one is not silently missing, and the folder's
    that fit."""
    fitting = fitting_adapters(checkpoint, adapters_dir)
    known = known_adapters(checkpoint, adapters_dir).items()
    return [name for name, path in known if name in fitting or path in checkpoint.files.adapters]


def largest(files: Iterable[LoraFile], activation_bytes: int) -> LoraFile | None:
    """The one that takes the most memory."""
    return max(files, key=lambda file: adapter_bytes(file, activation_bytes), default=None)


def adapter_file(checkpoint: Checkpoint, name: str, adapters_dir: str = "") -> Path | None:
    """The file or folder meant by `name`: none, a known name, or a path; empty: the default.

    The default is the first that fits of those directly beside the weights, as the releases ship theirs. Where none
    fits it is the first, so that loading it says why it does not.
    """
    if name == NONE:
        return None
    if not name:
        beside = [path for path in checkpoint.files.adapters if path.parent == checkpoint.path]
        fitting = fitting_adapters(checkpoint) if len(beside) > 1 else {}
        ours = {stored_name(path) for path in beside} & set(fitting)
        return next((path for path in beside if stored_name(path) in ours), beside[0] if beside else None)
    known = known_adapters(checkpoint, adapters_dir)
    if name in known:
        return known[name]
    path = Path(name).expanduser()
    if is_safetensors(name) or os.sep in name:
        return path
    names = ", ".join(sorted(selectable(checkpoint, adapters_dir))) or NONE
    raise CheckpointError(f"There is no adapter {name!r} for {checkpoint.name}.", f"Available: {names}.")
