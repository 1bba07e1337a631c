"""Small files of the manager that are whole at every moment."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

MAX_BYTES = 8 << 20


def read_json(path: Path) -> dict[str, Any]:
    """The object in a small JSON file; empty when there is none, or none that can be understood."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(descriptor, "rb") as file:
            data = file.read(MAX_BYTES + 1)
        value = json.loads(data) if len(data) <= MAX_BYTES else {}
    except (OSError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def write_json(path: Path, value: Mapping[str, Any], *, sync: bool = True) -> None:
    """Replace a JSON file in one step. Raises `OSError`; the old content is then still there."""
    part = path.with_name(f"{path.name}.new")
    try:
        with part.open("wb") as file:
            file.write(json.dumps(value, indent=1).encode())
            file.flush()
            if sync:
                os.fsync(file.fileno())
        part.replace(path)
    except OSError:
        with contextlib.suppress(OSError):
            part.unlink()
        raise


def sync_folder(folder: Path) -> None:
    """Make new names in a folder survive a power cut. Raises `OSError`."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
