"""What could complete the word at the cursor: a command, its argument, or the path of a file."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from edge0_tui import units
from edge0_tui.writing.attachments import mention
from edge0_tui.writing.saved_texts import SavedText
from edge0_tui.writing.slash import Command

_PATH = re.compile(r'(?:^|(?<=[\s(\[{]))@(?:"(?P<quoted>[^"]*)|(?P<plain>[^\s"]*))$')
_SCANNED = 2000
MOST = 100


@dataclass(frozen=True)
class Item:
    """One proposal. `insert` takes the place of the word; a `whole` one can be sent or run as it is."""

    label: str
    note: str
    insert: str
    whole: bool = True


@dataclass(frozen=True)
class Menu:
    """Proposals for the text from column `start` up to the cursor, in the cursor's line."""

    start: int
    items: Sequence[Item]


def path_prefix(before: str) -> tuple[int, str] | None:
    """Where an unfinished `@path` begins in the text before the cursor, and how far it has come."""
    match = _PATH.search(before)
    return (match.start(), match["quoted"] if match["quoted"] is not None else match["plain"]) if match else None


def paths(prefix: str, base: Path) -> list[Item]:
    """Files and folders that begin so, folders first. Hidden ones only if the name begins with a dot. Blocks."""
    folder, _, start = prefix.rpartition("/")
    root = "/" if prefix.startswith("/") and not folder else folder
    found: list[tuple[bool, str, Item]] = []
    try:
        with os.scandir(base / Path(root or ".").expanduser()) as entries:
            for number, entry in enumerate(entries):
                if number >= _SCANNED:
                    break
                name = entry.name
                if not name.lower().startswith(start.lower()) or (name[0] == "." and not start.startswith(".")):
                    continue
                if not name.isprintable():
                    continue
                above = prefix[: len(prefix) - len(start)]
                try:
                    if entry.is_dir():
                        item = Item(f"{name}/", "", mention(f"{above}{name}/").removesuffix('"'), whole=False)
                        found.append((False, name, item))
                    elif entry.is_file():
                        size = units.size(entry.stat().st_size)
                        found.append((True, name, Item(name, size, mention(above + name) + " ", whole=False)))
                except OSError:
                    continue
    except (OSError, ValueError, RuntimeError):
        return []
    return [item for _, _, item in sorted(found, key=lambda each: (each[0], each[1].lower()))[:MOST]]


def command_menu(
    before: str,
    known: Mapping[str, Command],
    saved: Mapping[str, SavedText],
    arguments: Callable[[str], Iterable[tuple[str, str]]],
) -> Menu | None:
    """Proposals for a command in the first line; `arguments` gives those of one command as words and notes."""
    if not before.startswith("/"):
        return None
    name, space, rest = before[1:].partition(" ")
    if not re.fullmatch(r"[\w-]*", name):
        return None
    if space:
        words = arguments(name.lower()) if " " not in rest else []
        items = [Item(word, note, word) for word, note in words if word.lower().startswith(rest.lower())]
        return Menu(len(before) - len(rest), items[:MOST]) if items else None
    start = name.lower()
    items = [
        Item(f"/{command.name} {command.argument}".rstrip(), command.help, *_inserted(command))
        for command in known.values()
        if command.name.startswith(start)
    ]
    items += [
        Item(f"/{text.name}", text.first_line, f"/{text.name}")
        for text in saved.values()
        if text.name.startswith(start) and text.name not in known
    ]
    return Menu(0, items) if items else None


def _inserted(command: Command) -> tuple[str, bool]:
    return (f"/{command.name} ", False) if command.needed else (f"/{command.name}", True)
