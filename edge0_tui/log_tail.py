"""The end of a log file as plain lines."""

from __future__ import annotations

import re
from pathlib import Path

_TAIL_BYTES = 64 * 1024
_CONTROL = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|[\x00-\x08\x0b-\x1f\x7f]")


def tail(path: Path) -> list[str]:
    """The last lines of the file without control characters, or one line saying why there are none."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, 2)
            file.seek(max(0, size - _TAIL_BYTES))
            data = file.read(_TAIL_BYTES)
    except OSError as error:
        return [f"No log: {error.strerror or error}"]
    lines = _CONTROL.sub("", data.decode("utf-8", "replace")).splitlines()
    return lines[1:] if size > _TAIL_BYTES else lines or ["The log is empty."]
