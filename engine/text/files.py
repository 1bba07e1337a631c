"""Bounded reading of a checkpoint's small files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from engine.errors import CheckpointError

MAX_CONFIG = 16 * 1024 * 1024


def read_bounded(path: Path, limit: int) -> bytes:
    """The bytes of a regular file of at most `limit` bytes. Raises `CheckpointError` naming the file."""
    try:
        if not path.is_file():
            raise CheckpointError(f"{path} is missing.")
        with path.open("rb") as file:
            data = file.read(limit + 1)
    except OSError as error:
        raise CheckpointError(f"{path} cannot be read: {error.strerror or error}.") from None
    if len(data) > limit:
        raise CheckpointError(f"{path} is larger than the {limit:,} bytes such a file may have.")
    return data


def read_json(path: Path, limit: int = MAX_CONFIG) -> dict[str, Any]:
    """The JSON object in a file. Raises `CheckpointError` when it is missing, too large or not an object."""
    try:
        body = json.loads(read_bounded(path, limit))
    except (ValueError, RecursionError) as error:
        raise CheckpointError(f"{path} is damaged: {error}.") from None
    if not isinstance(body, dict):
        raise CheckpointError(f"{path} is damaged: a JSON object was expected.")
    return body


def read_optional_json(path: Path, limit: int = MAX_CONFIG) -> dict[str, Any]:
    """As `read_json`, but an absent file is an empty object."""
    return read_json(path, limit) if path.exists() else {}
