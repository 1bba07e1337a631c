"""The adapters there are: beside the checkpoints and in the adapters folder, and which model each fits.

Only headers are read. Everything here blocks on the disk and is meant for a thread or a command.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from edge0_tui.paths import Paths
from engine.errors import CheckpointError

if TYPE_CHECKING:
    from engine.checkpoint.checkpoint import Checkpoint

Place = Literal["beside", "folder", "elsewhere"]
Kind = Literal["lora", "prerouter"]
_TIERS = ("35b", "8b", "nano")


@dataclass(frozen=True)
class Adapter:
    """A LoRA or prerouter file, or the folder that mlx-lm or PEFT wrote.

    name      what `-a` and `engine.protocol.Load.adapter` take
    format    published, mlx-lm or PEFT; "" when it cannot be read, and then `problem` says why
    base      what it says it was made for, "" if it does not say; `tier` as far as that tells
    modules   how many layers of each kind of module it adapts
    """

    name: str
    path: Path
    place: Place
    kind: Kind
    format: str = ""
    bytes: int = 0
    base: str = ""
    experts_per_token: int | None = None
    rank: int | None = None
    scale: float | None = None
    targets: int = 0
    modules: dict[str, int] = field(default_factory=dict)
    problem: str = ""

    @property
    def tier(self) -> str:
        return next((tier for tier in _TIERS if tier in self.base.lower()), "")


@dataclass(frozen=True)
class Fit:
    """One adapter against one model: modules by outcome, the first few names that are not applied, and one sentence
    on why it does not fit or what is unusual."""

    model: str
    fits: bool
    applied: int = 0
    not_found: int = 0
    skipped: int = 0
    names: tuple[str, ...] = ()
    reason: str = ""


@dataclass(frozen=True)
class Offer:
    """An adapter as a model is offered it."""

    adapter: Adapter
    fit: Fit


def list_adapters(model: Path, label: str, paths: Paths) -> list[Offer]:
    """What the checkpoint in `model`, called `label`, can be offered: what lies beside it, then the folder's.

    Raises CheckpointError when the checkpoint itself is damaged.
    """
    from engine.adapter_choice import known_adapters
    from engine.checkpoint.checkpoint import open_checkpoint

    checkpoint = open_checkpoint(model)
    beside = set(checkpoint.files.adapters)
    offers = [
        _offer(inspect(path, name, "beside" if path in beside else "folder"), checkpoint, label)
        for name, path in known_adapters(checkpoint, str(paths.adapters)).items()
    ]
    heads = [inspect(path, kind="prerouter", place="beside") for path in checkpoint.files.heads]
    return [*offers, *(_offer(head, checkpoint, label) for head in heads)]


def in_folder(paths: Paths) -> list[Adapter]:
    """The adapters folder alone."""
    from engine.checkpoint.adapter_source import stored_adapters, stored_heads

    heads = [inspect(path, place="folder", kind="prerouter") for path in stored_heads(paths.adapters)]
    return [*(inspect(path, place="folder") for path in stored_adapters(paths.adapters)), *heads]


def inspect(path: Path, name: str = "", place: Place = "elsewhere", kind: Kind = "lora") -> Adapter:
    """What a file or folder says of itself. Never raises for its content: `problem` says what is wrong with it."""
    from engine.checkpoint.adapter_source import stored_name
    from engine.checkpoint.prerouter import read_prerouter
    from engine.checkpoint.read_lora import read_lora

    name, size = name or stored_name(path), _size(path)
    try:
        if kind == "prerouter":
            heads = read_prerouter(path)
            base, k = heads.metadata.model, heads.experts_per_token
            return Adapter(name, path, place, kind, "published", size, _plain(base), k, targets=len(heads.owners))
        lora = read_lora(path)
    except CheckpointError as error:
        return Adapter(name, path, place, kind, bytes=size, problem=str(error))
    return Adapter(
        name,
        path,
        place,
        kind,
        lora.format,
        size,
        _plain(lora.metadata.model),
        lora.metadata.experts_per_token,
        lora.rank,
        lora.scale,
        len(lora.targets) + len(lora.skipped),
        _kinds([*lora.targets, *lora.skipped]),
    )


def fit_of(path: Path, checkpoint: Checkpoint, label: str, kind: Kind = "lora") -> Fit:
    """The file or folder against an opened checkpoint."""
    from engine.checkpoint.adapter_match import match_lora, require_heads, require_lora
    from engine.checkpoint.faults import shown
    from engine.checkpoint.prerouter import read_prerouter
    from engine.checkpoint.read_lora import read_lora

    try:
        if kind == "prerouter":
            heads = require_heads(read_prerouter(path), checkpoint)
            return Fit(label, True, len(heads.applied), len(heads.not_found), reason="; ".join(heads.notes))
        lora = read_lora(path)
        match = match_lora(lora, checkpoint)
    except CheckpointError as error:
        return Fit(label, False, reason=str(error))
    names = tuple(shown(name) for name in (*match.misshapen, *match.not_found, *match.skipped)[:8])
    counts = (len(match.applied), len(match.not_found), len(match.skipped), names)
    try:
        require_lora(lora, checkpoint)
    except CheckpointError as error:
        return Fit(label, False, *counts, reason=str(error))
    return Fit(label, True, *counts, reason="; ".join(match.notes))


def _offer(adapter: Adapter, checkpoint: Checkpoint, label: str) -> Offer:
    if adapter.problem:
        return Offer(adapter, Fit(label, False, reason=adapter.problem))
    return Offer(adapter, fit_of(adapter.path, checkpoint, label, adapter.kind))


def _kinds(modules: list[str]) -> dict[str, int]:
    """`layers.3.self_attn.q_proj` and its like in other layers, counted as `self_attn.q_proj`."""
    inside = [module.split(".", 2)[-1] if module.startswith("layers.") else module for module in modules]
    return dict(Counter(map(_plain, inside)).most_common(64))


def _plain(text: str) -> str:
    """Text from a file nobody vouches for, fit for one line of a terminal."""
    return "".join(letter for letter in text[:200] if letter.isprintable())


def _size(path: Path) -> int:
    from engine.checkpoint.adapter_source import locate

    try:
        found = locate(path)
        return sum(file.stat().st_size for file in (found.weights, found.config) if file)
    except (CheckpointError, OSError):
        return 0
