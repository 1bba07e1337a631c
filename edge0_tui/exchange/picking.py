"""Which exported files a person means by what is typed, dropped or pasted. Everything here reads the disk."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

ENDINGS = frozenset({".md", ".markdown", ".json", ".html", ".htm"})
_SCANNED = 4000
MOST = 200


@dataclass(frozen=True)
class Entry:
    """One line below the field: a folder, a file and its size in bytes, or all the `files` of the folder."""

    path: Path
    folder: bool = False
    bytes: int = 0
    files: tuple[Path, ...] = ()


def named(text: str, base: Path) -> list[Path]:
    """The paths in a text: one as it stands, else several as a shell or a file manager writes them."""
    text = text.strip()
    if not text:
        return []
    whole = _path(text, base)
    if _there(whole):
        return [whole]
    try:
        words = shlex.split(text)
    except ValueError:  # a quotation mark that is a part of the name
        return [whole]
    paths = [_path(word, base) for word in words]
    # One name with blanks that is not there is told of as one, not word by word.
    return paths if len(paths) == 1 or any(map(_there, paths)) else [whole]


def entries(text: str, base: Path) -> Sequence[Entry]:
    """What could complete a path: folders first, then files that could be exports, at most `MOST` of each.

    Hidden ones only if the name begins with a dot. Where nothing but the folder is typed and it holds several
    files, all of them together come before.
    """
    head, _, start = text.strip().rpartition("/")
    folder = _path(f"{head}/", base) if head or text.strip().startswith("/") else base
    folders, files = [], []
    try:
        with os.scandir(folder) as scan:
            for number, found in enumerate(scan):
                name = found.name
                if number >= _SCANNED:
                    break
                if not name.isprintable() or not name.lower().startswith(start.lower()):
                    continue
                if name[0] == "." and not start.startswith("."):
                    continue
                try:
                    if found.is_dir():
                        folders.append(Entry(folder / name, folder=True))
                    elif found.is_file() and Path(name).suffix.lower() in ENDINGS:
                        files.append(Entry(folder / name, bytes=found.stat().st_size))
                except OSError:
                    continue
    except (OSError, ValueError):
        return []
    for group in (folders, files):
        group.sort(key=lambda entry: entry.path.name.lower())
    every = tuple(entry.path for entry in files)
    together = [Entry(folder, files=every)] if len(every) > 1 and not start else []
    return [*together, *folders[:MOST], *files[:MOST]]


def _path(text: str, base: Path) -> Path:
    if text.startswith("file://"):
        text = unquote(urlsplit(text).path)
    try:
        return base / Path(text).expanduser()
    except (RuntimeError, ValueError):  # no such person's home
        return base / text


def _there(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):
        return False
