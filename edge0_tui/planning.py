"""What the plan card and `models plan` look at: an installed model, or a tier that could be fetched. No Textual."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from edge0_tui.installed import BUILT_IN, VARIABLES, resolve
from edge0_tui.paths import Paths
from engine.errors import CheckpointError

if TYPE_CHECKING:
    from engine.outlook.model import PlannedModel

TIERS = ("35b", "8b", "nano")


@dataclass(frozen=True)
class Planned:
    """A model to plan for.

    id         as it was named: nano, 8b, 35b or a directory
    directory  where its files are; None for a published tier that is not installed
    volume     where they are, or would be put
    download   bytes to fetch first
    """

    id: str
    model: PlannedModel
    directory: Path | None
    volume: Path
    download: int

    @property
    def tier(self) -> str:
        return self.model.checkpoint.tier

    @property
    def probe_name(self) -> str:
        """As `engine.layer_probe` takes it."""
        return str(self.directory) if self.directory else self.id

    @property
    def cached(self) -> int:
        """Bytes of its weights that the page cache holds now; 0 where nobody tells."""
        from engine.cached_pages import cached_pages

        return (cached_pages(self.model.checkpoint.files.shards) or 0) if self.directory else 0


def planned(model: str, places: Paths, volume: Path | None = None) -> Planned:
    """`model` is nano, 8b, 35b or a directory; a published tier need not be installed.

    Raises CheckpointError for a directory that is missing or no checkpoint.
    """
    from engine.outlook.model import open_model
    from engine.outlook.published import published_model

    directory = _directory(model, places)
    if directory is None:
        found = published_model(model)
        return Planned(model, found, None, volume or places.models, found.stored_bytes)
    found = open_model(directory, str(places.adapters))
    return Planned(model, found, directory, volume or directory, 0)


def _directory(model: str, places: Paths) -> Path | None:
    """Where the model is; None for a published tier that is nowhere."""
    if model == BUILT_IN:
        from engine.checkpoint.tiers import NANO

        return NANO
    try:
        return Path(resolve(model, places))
    except CheckpointError:
        if model in VARIABLES and not os.environ.get(VARIABLES[model]):
            return None
        raise
