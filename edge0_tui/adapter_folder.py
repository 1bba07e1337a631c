"""Putting adapters into the adapters folder and taking them out again."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from edge0_tui.adapters import Adapter, in_folder, inspect
from edge0_tui.paths import Paths
from engine.errors import CheckpointError, UsageError

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_HIDDEN = ".unfinished-"


def add_adapter(source: Path, paths: Paths, name: str = "", model: Path | None = None) -> Adapter:
    """Copy the adapter in `source`, a file or a folder, into the adapters folder: all of it or nothing.

    The copy is checked, numbers included, and with `model` also against that checkpoint. Only the factors and the
    config are copied. Raises CheckpointError for what is damaged or does not fit, UsageError for a name that is
    taken or not usable.
    """
    from engine.checkpoint.adapter_match import require_lora
    from engine.checkpoint.adapter_source import CONFIG, WEIGHTS, locate
    from engine.checkpoint.checkpoint import open_checkpoint
    from engine.checkpoint.finite import require_finite
    from engine.checkpoint.read_lora import read_lora

    lora, found = read_lora(source), locate(source)
    if model is not None:
        require_lora(lora, open_checkpoint(model))
    name = _free_name(name or found.name, paths)
    alone = lora.format == "published"
    with _writing(paths.adapters) as scratch:
        folder = scratch / name
        folder.mkdir()
        copy = folder / (f"{name}.safetensors" if alone else WEIGHTS[lora.format == "PEFT"])
        _copy(found.weights, copy)
        if not alone and found.config is not None:
            _copy(found.config, folder / CONFIG)
        require_finite(read_lora(copy if alone else folder))
        target = paths.adapters / (copy.name if alone else name)
        _publish(copy if alone else folder, target)
    return inspect(target, place="folder")


def remove_adapter(name: str, paths: Paths) -> int:
    """Delete an adapter of the adapters folder; the bytes that became free. A link is removed, not what it means.

    Raises CheckpointError when the folder has none of that name.
    """
    known = {adapter.name: adapter for adapter in in_folder(paths)}
    if name not in known:
        names = ", ".join(sorted(known)) or "none"
        raise CheckpointError(f"There is no adapter {name!r} in {paths.adapters}.", f"There are: {names}.")
    path = known[name].path
    with _writing(paths.adapters) as scratch:
        if path.is_symlink():
            path.unlink()
            return 0
        # Out of sight in one step, so that no half of it is ever found.
        path.rename(scratch / path.name)
    return known[name].bytes


def _free_name(name: str, paths: Paths) -> str:
    if not _NAME.fullmatch(name) or name == "none":
        raise UsageError(f"An adapter cannot be called {name!r}.", "Give --name letters, digits and . _ - only.")
    taken = [paths.adapters / name, paths.adapters / f"{name}.safetensors"]
    if any(os.path.lexists(path) for path in taken):
        raise UsageError(f"There is an adapter {name} in {paths.adapters}.", "Give another --name, or remove it.")
    return name


@contextlib.contextmanager
def _writing(folder: Path) -> Iterator[Path]:
    """A hidden folder on the same volume that is gone afterwards. Turns OSError into CheckpointError."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for left in folder.glob(f"{_HIDDEN}*"):  # of a run that was killed, and nobody else's
            if not _alive(left.name.removeprefix(_HIDDEN).partition("-")[0]):
                shutil.rmtree(left, ignore_errors=True)
        with tempfile.TemporaryDirectory(prefix=f"{_HIDDEN}{os.getpid()}-", dir=folder) as scratch:
            yield Path(scratch)
    except OSError as error:
        reason = error.strerror or str(error)
        raise CheckpointError(f"{folder} cannot be written: {reason}.", "Nothing was changed.") from error


def _alive(pid: str) -> bool:
    try:
        os.kill(int(pid), 0)
    except (ValueError, ProcessLookupError):
        return False
    except PermissionError:
        return True
    return True


def _copy(source: Path, target: Path) -> None:
    shutil.copyfile(source, target)
    with target.open("rb") as copied:
        os.fsync(copied.fileno())


def _publish(made: Path, target: Path) -> None:
    """Rename without replacing: a file by a second name, a folder because renaming never replaces a full one."""
    if made.is_dir():
        made.rename(target)
        return
    try:
        os.link(made, target)
    except FileExistsError:
        raise UsageError(f"{target} was made by another program meanwhile.", "Try again.") from None
    except OSError:  # no second names on this file system
        made.rename(target)
