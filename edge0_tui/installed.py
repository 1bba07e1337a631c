"""Which models can be loaded now, wherever they lie, and where the names `8b` and `35b` lead."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from edge0_tui.paths import Paths
from engine.errors import CheckpointError

if TYPE_CHECKING:
    from edge0_tui.manager.catalog import CatalogEntry

BUILT_IN = "nano"
VARIABLES = {"8b": "EDGE0_8B_MODEL", "35b": "EDGE0_35B_MODEL"}
CACHE = "hub cache"
Status = Literal["built in", "verified", "found", "unfinished", "damaged"]


@dataclass(frozen=True)
class Installed:
    """A directory that looks like a checkpoint; what it really is, `engine.checkpoint` says.

    verified    fetched by this program, every file hashed and not touched since
    found       lies there otherwise; `note` says what a verification said of it last
    unfinished  its download has not ended; damaged: a verification found it so

    `repo` and `revision` are the hub's, empty where unknown.
    """

    name: str
    path: Path
    source: str
    status: Status = "found"
    note: str = ""
    repo: str = ""
    revision: str = ""

    @property
    def bytes(self) -> int:
        """Size of its files."""
        return sum(file.stat().st_size for file in self.path.rglob("*") if file.is_file())

    @property
    def loadable(self) -> bool:
        """Whether nothing is known that speaks against loading it."""
        return self.status not in ("unfinished", "damaged")

    @property
    def removable(self) -> bool:
        """Whether `manager.remove` deletes it: what was fetched by this program, or lies in its models folder."""
        from edge0_tui.manager.record import read_record

        return self.source == "models folder" or read_record(self.path) is not None


def installed_models(paths: Paths, folders: Sequence[str] | None = None) -> list[Installed]:
    """The built-in model, `EDGE0_8B_MODEL` and `EDGE0_35B_MODEL`, the models folder, what was fetched
    elsewhere, the folders of the settings (`models.folders`, read from the file unless given), the hub's cache.
    Each directory once; reads files, blocks.
    """
    from engine.checkpoint.tiers import NANO

    listed = [Installed(BUILT_IN, NANO, "built in", "built in")]
    seen: set[Path] = set()
    for name, path, source in _candidates(paths, _folders(paths) if folders is None else folders):
        real = path.resolve()
        if real not in seen:
            seen.add(real)
            listed.append(_described(name, path, source, paths))
    return listed


def resolve(model: str, paths: Paths, folders: Sequence[str] | None = None) -> str:
    """`model` as `engine.protocol.Load` takes it: `nano`, `8b`, `35b`, a name as listed, or a directory.

    Raises `CheckpointError` that says how to get what is missing.
    """
    if model == BUILT_IN:
        return BUILT_IN
    if model in VARIABLES:
        return str(_tier(model, paths, folders))
    path = Path(model).expanduser()
    if path.is_dir():
        return str(path.absolute())
    named = [item for item in installed_models(paths, folders) if model in (item.name, item.repo)]
    if named:
        return str(_usable(named[0], paths))
    raise CheckpointError(
        f"{model}: there is no such directory or model.",
        "MODEL is nano, 8b, 35b, a name of `models ls` or a directory.",
    )


def _tier(name: str, paths: Paths, folders: Sequence[str] | None) -> Path:
    """The variable's directory, else the models folder's, else whichever of the listed ones is that tier."""
    from edge0_tui.manager.catalog import CATALOG

    variable = VARIABLES[name]
    value = os.environ.get(variable)
    if value:
        path = Path(value).expanduser()
        if not path.is_dir():
            raise CheckpointError(f"{variable} is {value}, which is not a directory.")
        return path.absolute()
    usual = paths.models / name
    if (usual / "config.json").is_file() and (own := _described(name, usual, "models folder", paths)).loadable:
        return own.path.absolute()
    tier = next(item for item in CATALOG if item.name == name)
    found = [item for item in installed_models(paths, folders) if _is(item, tier)]
    found.sort(key=lambda item: (not item.loadable, item.revision != tier.revision and item.source == CACHE))
    if found:
        return _usable(found[0], paths)
    raise CheckpointError(
        f"The {name.upper()} model is not installed.",
        f"`edge0-tui models get {name}` fetches it; or set {variable} to its directory, or name that with -m.",
    )


def _is(item: Installed, tier: CatalogEntry) -> bool:
    """Whether this is the tier: by name, by repository, else by what its files say."""
    if item.name == BUILT_IN or tier.name == item.name or tier.repo == item.repo:
        return item.name != BUILT_IN
    if item.repo or not item.loadable:
        return False
    from engine.checkpoint.checkpoint import open_checkpoint

    try:
        return open_checkpoint(item.path).tier == tier.name
    except CheckpointError:
        return False


def _usable(item: Installed, paths: Paths) -> Path:
    from edge0_tui.manager.present import command_to_go_on
    from edge0_tui.manager.use import hold

    hold(item.path).release()  # what is half deleted looks unfinished
    if item.status == "unfinished":
        command = command_to_go_on(item.path, paths, item.name)
        raise CheckpointError(f"{item.name} is not all there ({item.note}).", f"`{command}` fetches the rest.")
    return item.path.absolute()


def _candidates(paths: Paths, folders: Sequence[str]) -> Iterator[tuple[str, Path, str]]:
    """Name, directory and source of whatever might be a model."""
    from edge0_tui.manager.catalog import entry
    from edge0_tui.manager.elsewhere import elsewhere
    from edge0_tui.manager.places import cached_snapshots, checkpoints_below, models_in

    for name, variable in VARIABLES.items():
        path = Path(os.environ.get(variable) or "/dev/null").expanduser()
        if (path / "config.json").is_file():
            yield name, path, variable
    for path in models_in(paths.models):
        yield path.name, path, "models folder"
    for path, _ in elsewhere(paths):
        yield path.name, path, str(path.parent)
    for folder in folders:
        for path in checkpoints_below(Path(folder).expanduser()):
            yield path.name, path, str(folder)
    for repo, path in cached_snapshots():
        if entry(repo) is not None or _opens(path):
            yield repo, path, CACHE


def _described(name: str, path: Path, source: str, paths: Paths) -> Installed:
    from edge0_tui.manager.standing import standing

    known = standing(path, paths)
    repo, revision = known.repo, known.revision
    if source == CACHE:
        repo, revision = name, path.name
    elif repo and name == repo.replace("/", "--"):
        name = repo
    return Installed(name, path, source, known.status, known.note, repo, revision)


def _folders(paths: Paths) -> Sequence[str]:
    from edge0_tui.settings_file import read

    return read(paths.settings).settings.models.folders


def _opens(path: Path) -> bool:
    from engine.checkpoint.checkpoint import open_checkpoint

    try:
        open_checkpoint(path)
    except CheckpointError:
        return False
    return True
