"""Which models can be loaded now, and where the names `8b` and `35b` lead."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from edge0_tui.paths import Paths
from engine.errors import CheckpointError

BUILT_IN = "nano"
VARIABLES = {"8b": "EDGE0_8B_MODEL", "35b": "EDGE0_35B_MODEL"}


@dataclass(frozen=True)
class Installed:
    """A directory that looks like a checkpoint; what it really is, `engine.checkpoint` says."""

    name: str
    path: Path
    source: str

    @property
    def bytes(self) -> int:
        """Size of its files."""
        return sum(file.stat().st_size for file in self.path.rglob("*") if file.is_file())


def installed_models(paths: Paths) -> list[Installed]:
    """The built-in model, those of `EDGE0_8B_MODEL` and `EDGE0_35B_MODEL`, and the models folder's."""
    from engine.checkpoint.tiers import NANO

    found = [Installed(BUILT_IN, NANO, "built in")]
    for name, variable in VARIABLES.items():
        if os.environ.get(variable):
            found.append(Installed(name, Path(os.environ[variable]).expanduser(), variable))
    if paths.models.is_dir():
        folders = sorted(folder for folder in paths.models.iterdir() if (folder / "config.json").is_file())
        found += [Installed(folder.name, folder, "models folder") for folder in folders]
    return [model for model in found if (model.path / "config.json").is_file()]


def resolve(model: str, paths: Paths) -> str:
    """`model` as `engine.protocol.Load` takes it. Raises `CheckpointError` that says how to get what is missing."""
    if model == BUILT_IN:
        return BUILT_IN
    if model in VARIABLES:
        return str(_tier(model, paths))
    path = Path(model).expanduser()
    if not path.is_dir():
        raise CheckpointError(f"{model}: there is no such directory.", "MODEL is nano, 8b, 35b or a directory.")
    return str(path.absolute())


def _tier(name: str, paths: Paths) -> Path:
    variable = VARIABLES[name]
    value = os.environ.get(variable)
    if value:
        path = Path(value).expanduser()
        if not path.is_dir():
            raise CheckpointError(f"{variable} is {value}, which is not a directory.")
        return path.absolute()
    folder = paths.models / name
    if (folder / "config.json").is_file():
        return folder
    raise CheckpointError(
        f"The {name.upper()} model is not installed.",
        f"Put its checkpoint into {folder}, set {variable} to its directory, or name the directory with -m.",
    )
