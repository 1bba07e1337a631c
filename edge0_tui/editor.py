"""Writing a prompt in the person's own editor."""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path


class EditorError(Exception):
    """The editor could not be run or reported a failure; the prompt is as it was."""


def command(environ: Mapping[str, str]) -> list[str]:
    """`$VISUAL`, else `$EDITOR`, else vi."""
    return shlex.split(environ.get("VISUAL") or environ.get("EDITOR") or "vi")


def edit(text: str, editor: list[str] | None = None) -> str:
    """`text` as the person left it. Blocks; the caller gives the terminal away before. Raises `EditorError`."""
    with tempfile.TemporaryDirectory(prefix="edge0-") as folder:
        path = Path(folder) / "prompt.md"
        path.write_text(text, encoding="utf-8")
        words = editor or command(os.environ)
        try:
            status = subprocess.run([*words, str(path)], check=False).returncode
            if status:
                raise EditorError(f"{words[0]} ended with status {status}; the prompt is unchanged.")
            return path.read_text(encoding="utf-8").rstrip("\n")
        except (OSError, UnicodeDecodeError) as error:
            raise EditorError(f"{words[0]}: {error}") from None
