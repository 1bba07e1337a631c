"""How this package says what is wrong: always the file, and the tensor where there is one."""

from __future__ import annotations

from pathlib import Path

from engine.errors import CheckpointError

FETCH_AGAIN = "The file is damaged or incomplete: verify the checkpoint or fetch it again."


def shown(text: str, limit: int = 120) -> str:
    """A name from a file, safe for a terminal: ASCII, quoted, cut at `limit` characters."""
    return ascii(text if len(text) <= limit else text[:limit] + "…")


def fault(path: Path, why: str, *, tensor: str | None = None, hint: str = FETCH_AGAIN) -> CheckpointError:
    """The error for `path`, and for `tensor` inside it."""
    where = ascii(path.name)[1:-1] if tensor is None else f"{ascii(path.name)[1:-1]}: tensor {shown(tensor)}"
    return CheckpointError(f"{where}: {why}.", hint)
