"""The metadata of adapter and prerouter files as published."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from engine.checkpoint.faults import fault, shown
from engine.checkpoint.strict_json import parse_object

MAX_METADATA = 1 << 20
MAX_LAYERS = 1024


@dataclass(frozen=True)
class AdapterMetadata:
    """What a file says about itself; None or "" where it says nothing. `raw` holds everything as text.

    `experts_per_token` is the file's K, `owners` the layers that own a prerouter head.
    """

    kind: str
    model: str
    experts_per_token: int | None
    r: int | None
    alpha: float | None
    owners: tuple[int, ...] | None
    raw: Mapping[str, str]


def parse_metadata(path: Path, metadata: Mapping[str, str]) -> AdapterMetadata:
    """From a header's metadata: one entry `__metadata__` holding a JSON object as text, or the plain entries.

    Raises CheckpointError naming `path` and the entry.
    """
    nested = metadata.get("__metadata__")
    if nested is None:
        raw = dict(metadata)
    else:
        if len(nested) > MAX_METADATA:
            raise fault(path, f"has {len(nested):,} characters of metadata")
        values = parse_object(nested, path, "its metadata")
        raw = {key: value if isinstance(value, str) else str(value) for key, value in values.items()}
    return AdapterMetadata(
        kind=raw.get("kind", ""),
        model=raw.get("model", ""),
        experts_per_token=_whole(path, raw, "K"),
        r=_whole(path, raw, "r"),
        alpha=_real(path, raw, "alpha"),
        owners=_owners(path, raw),
        raw=raw,
    )


def _whole(path: Path, raw: Mapping[str, str], key: str) -> int | None:
    text = raw.get(key)
    if text is None:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 6 and int(text) > 0):
        raise fault(path, f"its metadata gives {key} as {shown(text)}, not a positive whole number")
    return int(text)


def _real(path: Path, raw: Mapping[str, str], key: str) -> float | None:
    text = raw.get(key)
    if text is None:
        return None
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 < value < 1e6:
        raise fault(path, f"its metadata gives {key} as {shown(text)}, not a positive number")
    return value


def _owners(path: Path, raw: Mapping[str, str]) -> tuple[int, ...] | None:
    text = raw.get("owners")
    if text is None:
        return None
    values = parse_object(f'{{"owners": {text}}}', path, "its list of owners")["owners"]
    if not isinstance(values, list) or not all(type(v) is int and 0 <= v < MAX_LAYERS for v in values):
        raise fault(path, "its metadata's owners are not a list of layers")
    if sorted(set(values)) != values:
        raise fault(path, "its metadata's owners are not in ascending order")
    return tuple(values)
