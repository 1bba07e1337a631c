"""The files of a checkpoint directory: shards (with or without index), adapters, prerouter heads."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from engine.checkpoint.adapter_source import folder_adapters, is_heads, is_lora
from engine.checkpoint.faults import fault, shown
from engine.checkpoint.headers import Header, TensorInfo, read_header
from engine.checkpoint.strict_json import read_object
from engine.errors import CheckpointError

INDEX = "model.safetensors.index.json"
ADAPTER_DIRECTORY = "adapters"
MAX_SHARDS = 4096
_NUMBERED = re.compile(r"^(?P<stem>.+)-(?P<index>\d{5})-of-(?P<count>\d{5})\.safetensors$")
_MISSING = "Fetch the missing file."


@dataclass(frozen=True)
class CheckpointFiles:
    """Paths in a directory, each tuple sorted by name. Adapters and heads include those under adapters/.

    An adapter is a file as published, or under adapters/ also a folder that mlx-lm or PEFT wrote.
    """

    directory: Path
    shards: tuple[Path, ...]
    index: Mapping[str, str] | None = field(repr=False)
    adapters: tuple[Path, ...]
    heads: tuple[Path, ...]


def find_files(directory: Path) -> CheckpointFiles:
    """What lies in `directory`. Raises CheckpointError when there are no weights, or a shard is missing."""
    if not directory.is_dir():
        raise CheckpointError(f"{directory}: no such checkpoint directory.", "Give a directory with a config.json.")
    index = _read_index(directory / INDEX) if (directory / INDEX).exists() else None
    shards = _indexed(directory, index) if index is not None else _unindexed(directory)
    places = (directory, directory / ADAPTER_DIRECTORY)
    return CheckpointFiles(
        directory,
        shards,
        index,
        (*_named(places, is_lora), *folder_adapters(places[1])),
        _named(places, is_heads),
    )


def _named(places: Sequence[Path], belongs: Callable[[str], bool]) -> tuple[Path, ...]:
    return tuple(
        path
        for place in places
        if place.is_dir()
        for path in sorted(place.iterdir(), key=lambda path: (path.name.lower(), path.name))
        if belongs(path.name)
    )


def is_adapter(name: str) -> bool:
    """Whether a file of this name holds an adapter or heads, not weights of the base."""
    return name.lower().startswith(("lora_", "prerouter_"))


def read_tensors(files: CheckpointFiles, ignores: Callable[[str], bool]) -> dict[str, TensorInfo]:
    """All tensors of all shards by their names in the files, except ignored ones.

    Raises CheckpointError when one appears in two shards, or index and shards disagree. The index's total_size is
    not looked at: published indexes carry stale ones.
    """
    tensors: dict[str, TensorInfo] = {}
    for shard in files.shards:
        header: Header = read_header(shard)
        for name, info in header.tensors.items():
            if ignores(name):
                continue
            if name in tensors:
                raise fault(shard, f"is also in {tensors[name].path.name}", tensor=name)
            if files.index is not None and files.index.get(name) != shard.name:
                says = files.index.get(name, "no file")
                raise fault(files.directory / INDEX, f"says {shown(says)}, but it is in {shard.name}", tensor=name)
            tensors[name] = info
    for name, file in (files.index or {}).items():
        if name not in tensors and not ignores(name):
            raise fault(files.directory / file, "is missing, although the index lists it here", tensor=name)
    return tensors


def _read_index(path: Path) -> dict[str, str]:
    table = read_object(path).get("weight_map")
    if not isinstance(table, dict) or not table:
        raise fault(path, "has no weight_map")
    result: dict[str, str] = {}
    for name, file in table.items():
        if not isinstance(file, str) or not _plain_name(file):
            raise fault(path, f"names the file {shown(str(file))}, which is not a plain file name", tensor=name)
        result[name] = file
    return result


def _plain_name(file: str) -> bool:
    separators = set("/\\:") & set(file)
    return file.endswith(".safetensors") and file.isprintable() and file[0] != "." and not separators


def _indexed(directory: Path, index: Mapping[str, str]) -> tuple[Path, ...]:
    names = sorted(set(index.values()))
    if len(names) > MAX_SHARDS:
        raise fault(directory / INDEX, f"names {len(names):,} files (accepted: {MAX_SHARDS:,})")
    for name in names:
        _require(directory / name)
    return tuple(directory / name for name in names)


def _unindexed(directory: Path) -> tuple[Path, ...]:
    found = [path for path in sorted(directory.glob("*.safetensors")) if not is_adapter(path.name)]
    found = [path for path in found if path.name.startswith("model")] or found
    for path in found:
        match = _NUMBERED.match(path.name)
        for number in range(1, min(int(match["count"]), MAX_SHARDS) + 1) if match else ():
            assert match
            _require(directory / f"{match['stem']}-{number:05}-of-{match['count']}.safetensors")
    if not found:
        part = next(iter(sorted(directory.glob("*.part"))), None)
        why = f"only the unfinished {part.name}" if part else "no *.safetensors file"
        raise CheckpointError(f"{directory}: holds no weights, {why}.", "Fetch the checkpoint first.")
    return tuple(found)


def _require(path: Path) -> None:
    if path.exists():
        return
    unfinished = path.with_name(path.name + ".part").exists()
    raise fault(path, "is missing" + (": its download was not finished" if unfinished else ""), hint=_MISSING)
