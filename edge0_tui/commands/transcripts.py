"""`edge0-tui transcripts ls|show|rm|restore`: conversations as they lie on disk."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from edge0_tui.chat.errors import StoreError
from edge0_tui.chat.summary import Summary
from edge0_tui.collection import Collection
from edge0_tui.console import Console, table
from edge0_tui.exit_codes import DONE
from edge0_tui.paths import find_paths
from edge0_tui.settings_file import read
from engine.errors import CheckpointError


def ls(options: argparse.Namespace) -> int:
    """Pinned first, then newest first."""
    console = Console()
    with opened() as collection:
        if options.deleted:
            return _ls_deleted(collection, console, options.json)
        chats = [chat for chat in collection.chats() if chat.archived == options.archived]
    if options.json:
        console.json([row(chat) for chat in chats])
    elif chats:
        lines = [(chat.id, local(chat.updated), str(chat.turns), _title(chat)) for chat in chats]
        console.data(table([("ID", "UPDATED", "TURNS", "TITLE"), *lines]))
    else:
        console.message(f"No transcripts in {collection.directory}.")
    return DONE


def show(options: argparse.Namespace) -> int:
    """Print one transcript. Raises `CheckpointError` if the id fits none or several."""
    console = Console()
    with opened() as collection:
        file = collection.find(options.id)
    try:
        text = file.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise CheckpointError(f"{file}: {error.strerror}.") from error
    if options.json:
        console.json({"id": file.stem, "path": str(file), "markdown": text})
    else:
        console.data(text)
    return DONE


def rm(options: argparse.Namespace) -> int:
    """Move to the trash; says the key that brings each back."""
    console = Console()
    rows = []
    with opened() as collection:
        # Every id is looked up before anything moves, so that a mistyped one changes nothing.
        for path in dict.fromkeys([collection.find(id) for id in options.ids]):
            rows.append({"path": str(path), "key": collection.delete(path)})
    if options.json:
        console.json(rows)
    for line in rows:
        hint = f"`edge0-tui transcripts restore {line['key']}` brings it back"
        console.message(f"{line['path']} is in the trash for 30 days; {hint}.")
    return DONE


def restore(options: argparse.Namespace) -> int:
    """Bring a deleted chat back."""
    console = Console()
    with opened() as collection:
        path = collection.restore(options.key)
    if options.json:
        console.json({"path": str(path)})
    else:
        console.message(f"{path} is back.")
    return DONE


@contextmanager
def opened() -> Iterator[Collection]:
    """The saved chats of this user. A `StoreError` becomes the error that the command line ends with."""
    reading = read(find_paths().settings)
    collection = Collection(find_paths(reading.settings.storage.data_dir))
    try:
        yield collection
    except StoreError as error:
        message = f"{error.filename}: {error.strerror}."
        raise CheckpointError(message, "`edge0-tui transcripts ls` lists what is there.") from error
    finally:
        collection.close()


def row(chat: Summary) -> dict[str, Any]:
    """One chat as `--json` gives it."""
    return {
        "id": chat.id,
        "title": chat.title,
        "updated": chat.updated.isoformat(timespec="seconds"),
        "created": chat.created.isoformat(timespec="seconds"),
        "model": chat.model,
        "turns": chat.turns,
        "pinned": chat.pinned,
        "archived": chat.archived,
        "problem": chat.problem,
        "path": str(chat.path),
    }


def local(moment: datetime) -> str:
    """As people read it, in their own time."""
    return moment.astimezone().strftime("%Y-%m-%d %H:%M")


def _ls_deleted(collection: Collection, console: Console, json: bool) -> int:
    deleted = collection.deleted()
    if json:
        facts = [{"key": entry.key, "purged": entry.purged.isoformat(timespec="seconds")} for entry in deleted]
        console.json([{**row(entry.summary), **fact} for entry, fact in zip(deleted, facts, strict=True)])
    elif deleted:
        lines = [(entry.key, local(entry.purged), _title(entry.summary)) for entry in deleted]
        console.data(table([("KEY", "KEPT UNTIL", "TITLE"), *lines]))
    else:
        console.message("The trash is empty.")
    return DONE


def _title(chat: Summary) -> str:
    marks = ("pinned", chat.pinned), (chat.problem, bool(chat.problem))
    said = ", ".join(word for word, there in marks if there)
    return f"{chat.title or '(no title)'}{f'  ({said})' if said else ''}"
