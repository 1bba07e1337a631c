"""`edge0-tui transcripts`: conversations as they lie on disk."""

from __future__ import annotations

import argparse
from datetime import datetime
from pathlib import Path

from edge0_tui.console import Console, table
from edge0_tui.exit_codes import DONE
from edge0_tui.paths import find_paths
from edge0_tui.settings_file import read
from engine.errors import CheckpointError, UsageError

_HEAD_BYTES = 8192


def ls(options: argparse.Namespace) -> int:
    """Newest first."""
    console, folder = Console(), _folder()
    files = sorted(folder.glob("*.md"), key=lambda file: file.stat().st_mtime, reverse=True)
    rows = [
        {
            "id": file.stem,
            "changed": datetime.fromtimestamp(file.stat().st_mtime).astimezone().isoformat(timespec="seconds"),
            "title": _title(file),
            "path": str(file),
        }
        for file in files
    ]
    if options.json:
        console.json(rows)
    elif rows:
        console.data(table([("ID", "CHANGED", "TITLE"), *((r["id"], r["changed"], r["title"]) for r in rows)]))
    else:
        console.message(f"No transcripts in {folder}.")
    return DONE


def show(options: argparse.Namespace) -> int:
    """Print one transcript. Raises `UsageError` if the id fits none or several."""
    file = _find(options.id)
    console, text = Console(), file.read_text(encoding="utf-8", errors="replace")
    if options.json:
        console.json({"id": file.stem, "path": str(file), "markdown": text})
    else:
        console.data(text)
    return DONE


def _folder() -> Path:
    reading = read(find_paths().settings)
    return find_paths(reading.settings.storage.data_dir).transcripts


def _find(wanted: str) -> Path:
    files = sorted(_folder().glob("*.md"))
    found = [file for file in files if file.stem == wanted] or [f for f in files if f.stem.startswith(wanted)]
    if len(found) > 1:
        raise UsageError(f"{wanted} fits {len(found)} transcripts: {', '.join(file.stem for file in found[:5])}.")
    if not found:
        raise CheckpointError(f"There is no transcript {wanted}.", "`edge0-tui transcripts ls` lists them.")
    return found[0]


def _title(file: Path) -> str:
    with file.open(encoding="utf-8", errors="replace") as lines:
        for line in lines.read(_HEAD_BYTES).splitlines():
            if line.startswith("title:"):
                return line.removeprefix("title:").strip().strip("'\"")
    return ""
