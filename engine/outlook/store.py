"""What was measured on this machine, kept in `probe.json` so that a plan needs no measurement each time.

Nothing in it is trusted: what is not as it was written is passed over, and measured again.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import platform
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from importlib import metadata
from pathlib import Path
from typing import Any, TypeVar

from engine import __version__
from engine.outlook import chip
from engine.outlook.types import ComputeSpeed, DiskSpeed

FILE = "probe.json"
MAX_BYTES = 1 << 20
T = TypeVar("T")


@dataclass(frozen=True)
class Known:
    """Volume (see `volume.volume_id`) → its speed, and the speeds of models' layers."""

    disks: Mapping[str, DiskSpeed] = field(default_factory=dict)
    computed: tuple[ComputeSpeed, ...] = ()


def machine_key() -> str:
    """Measurements of one machine say nothing of another that shares the folder."""
    return f"{platform.node()} {chip.chip_name()} {chip.threads()}"


def version() -> str:
    """What the speed of the kernels depends on."""
    try:
        mlx = metadata.version("mlx")
    except metadata.PackageNotFoundError:
        mlx = "missing"
    return f"{__version__}, mlx {mlx}"


def read(folder: Path) -> Known:
    """What is known of this machine."""
    body = read_table(folder / FILE).get(machine_key(), {})
    if not isinstance(body, dict):
        return Known()
    disks = body.get("disks", {})
    found = {name: disk for name, value in _items(disks) if (disk := _parsed(_disk, value))}
    computed = (_parsed(_compute, value) for _, value in _items(body.get("computed", {})))
    return Known(found, tuple(speed for speed in computed if speed))


def keep_disk(folder: Path, volume: str, speed: DiskSpeed) -> None:
    """Remember a volume's speed. A folder that cannot be written to is no error: it is measured again."""
    known = read(folder)
    _write(folder, replace(known, disks={**known.disks, volume: speed}))


def keep_compute(folder: Path, speed: ComputeSpeed) -> None:
    """Remember the speed of a model's layers in place of an older one."""
    known = read(folder)
    others = tuple(other for other in known.computed if other.shape != speed.shape)
    _write(folder, replace(known, computed=(*others, speed)))


def _write(folder: Path, known: Known) -> None:
    table = read_table(folder / FILE)
    table[machine_key()] = {
        "disks": {name: asdict(disk) for name, disk in known.disks.items()},
        "computed": {speed.shape: asdict(speed) for speed in known.computed},
    }
    write_table(folder / FILE, table)


def read_table(path: Path) -> dict[str, Any]:
    """A JSON object from a file of bounded size; empty when there is none or it is none."""
    try:
        with path.open("rb") as file:
            text = file.read(MAX_BYTES + 1)
        body = json.loads(text) if len(text) <= MAX_BYTES else {}
    except (OSError, ValueError, RecursionError):
        return {}
    return body if isinstance(body, dict) else {}


def write_table(path: Path, table: Mapping[str, Any]) -> None:
    """Whole or not at all; silently not where the folder cannot be written to."""
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
        try:
            with os.fdopen(descriptor, "w") as file:
                json.dump(table, file, indent=1)
            Path(name).replace(path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise


def _items(table: object) -> list[tuple[str, Any]]:
    return list(table.items()) if isinstance(table, dict) else []


def _parsed(parse: Callable[[dict[str, Any]], T], value: object) -> T | None:
    try:
        return parse(value) if isinstance(value, dict) else None
    except (KeyError, TypeError, ValueError):
        return None


def _disk(value: dict[str, Any]) -> DiskSpeed:
    rates = tuple((int(depth), positive(rate)) for depth, rate in value["rates"])
    if not rates or list(rates) != sorted(rates):
        raise ValueError("rates")
    return DiskSpeed(
        rates=rates,
        cached=positive(value["cached"]),
        cpu=not_negative(value["cpu"]),
        record=int(value["record"]),
        pieces=int(value["pieces"]),
        bytes=int(value["bytes"]),
        measured=not_negative(value["measured"]),
        source=str(value["source"]),
    )


def _compute(value: dict[str, Any]) -> ComputeSpeed:
    prefill = tuple((int(tokens), positive(seconds)) for tokens, seconds in value["prefill"])
    if len(prefill) < 2 or list(prefill) != sorted(prefill):
        raise ValueError("prefill")
    return ComputeSpeed(
        shape=str(value["shape"]),
        exact=positive(value["exact"]),
        predicted=positive(value["predicted"]),
        head=not_negative(value["head"]),
        heads=not_negative(value["heads"]),
        prefill=prefill,
        device=str(value["device"]),
        version=str(value["version"]),
        measured=not_negative(value["measured"]),
    )


def compute_speed(value: dict[str, Any]) -> ComputeSpeed:
    """From the object `engine.layer_probe` prints. Raises KeyError, TypeError or ValueError."""
    return _compute(value)


def positive(value: object) -> float:
    """A number above 0. Raises ValueError or TypeError."""
    number = not_negative(value)
    if number == 0:
        raise ValueError("0")
    return number


def not_negative(value: object) -> float:
    """A finite number that is not below 0. Raises ValueError or TypeError."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(str(type(value)))
    if not math.isfinite(value) or value < 0:
        raise ValueError(str(value))
    return float(value)
