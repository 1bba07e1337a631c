"""What the models screen lists: what is installed, what can be fetched, and the adapters of the loaded model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from edge0_tui.choice import Choice
from edge0_tui.installed import BUILT_IN, Installed, installed_models
from edge0_tui.paths import Paths
from engine.errors import EngineError

if TYPE_CHECKING:
    from edge0_tui.adapters import Offer
    from edge0_tui.manager.available import Available


@dataclass(frozen=True)
class Stored:
    """An installed model, the size of its files and whether this program may delete it."""

    model: Installed
    bytes: int
    removable: bool = False


@dataclass(frozen=True)
class Shelf:
    """`asked` are repositories a person has typed in, newest last."""

    installed: tuple[Stored, ...] = ()
    available: tuple[Available, ...] = ()
    adapters: tuple[Offer, ...] = ()
    asked: tuple[str, ...] = ()


def read_shelf(paths: Paths, loaded: Choice | None, asked: Sequence[str] = ()) -> Shelf:
    """Looks at disks and blocks. An unfinished download is not installed: it is among what can be fetched."""
    from edge0_tui.manager.available import available

    fetchable = [item for item in available(paths) if item.state != "installed"]
    unfinished = {item.path for item in fetchable if item.state == "unfinished"}
    installed = [item for item in installed_models(paths) if str(item.path) not in unfinished]
    here = {name for item in installed if item.loadable for name in (item.name, item.repo)}
    return Shelf(
        tuple(_stored(item) for item in installed),
        tuple(item for item in fetchable if item.state == "unfinished" or not {item.name, item.repo} & here),
        tuple(_adapters(paths, loaded)),
        tuple(asked),
    )


def _stored(model: Installed) -> Stored:
    try:
        return Stored(model, model.bytes, model.name != BUILT_IN and model.removable)
    except OSError:
        return Stored(model, 0)


def _adapters(paths: Paths, loaded: Choice | None) -> Sequence[Offer]:
    if loaded is None:
        return ()
    from edge0_tui.adapters import list_adapters
    from engine.checkpoint.tiers import NANO

    try:
        folder = NANO if loaded.model == BUILT_IN else Path(loaded.model)
        return [offer for offer in list_adapters(folder, loaded.name, paths) if offer.adapter.kind == "lora"]
    except EngineError:
        return ()
