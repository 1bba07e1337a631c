"""`edge0-tui transcripts search|export|import`: finding chats, giving them away and taking them in."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import cast

from edge0_tui.chat.errors import StoreError
from edge0_tui.chat.query import Query, Span, one_line, spans
from edge0_tui.commands.transcripts import local, opened, row
from edge0_tui.console import Console
from edge0_tui.exchange import formats
from edge0_tui.exit_codes import DONE, FILES
from engine.errors import UsageError

_BOLD, _PLAIN = "\x1b[1m", "\x1b[0m"


def search(options: argparse.Namespace) -> int:
    """Each chat with all the words, as soon as it is found; with `--json` one object a line."""
    console, query = Console(), Query.parse(" ".join(options.words))
    if not query.words:
        raise UsageError("There is no word to search for.")
    bold = sys.stdout.isatty()
    found = 0
    with opened() as collection:
        for hit in collection.search(query):
            if hit.summary.archived and not options.archived:
                continue
            found += 1
            if options.json:
                console.json({**row(hit.summary), "snippet": hit.snippet.text, "spans": hit.snippet.spans})
                continue
            title = one_line(hit.summary.title)
            title = _marked(title, spans(title, query.words), bold)
            lines = [f"{hit.summary.id}  {local(hit.summary.updated)}  {title}"]
            lines += [f"    {_marked(hit.snippet.text, hit.snippet.spans, bold)}"] if hit.snippet.text else []
            sys.stdout.write("\n".join(lines) + "\n")
    if not found and not options.json:
        console.message("No conversation has these words.")
    return DONE


def export(options: argparse.Namespace) -> int:
    """To a file, a folder, or standard output. A file that is there is refused without `--force`."""
    console = Console()
    target = Path(options.output).expanduser() if options.output not in (None, "-") else None
    format = options.format or (target.suffix[1:].lower() if target and not target.is_dir() else "") or "md"
    if format not in formats.FORMATS:
        raise UsageError(f"{options.output} does not say a format.", "Give --format md, json or html.")
    known = cast(formats.Format, format)
    if target is None and options.json:
        raise UsageError("--json needs -o: standard output is the export's.")
    with opened() as collection:
        if target is None:
            chat = collection.open(options.id).conversation
            sys.stdout.buffer.write(formats.export(chat, known, branch=options.branch))
            sys.stdout.flush()
            return DONE
        path = collection.export(options.id, known, target, branch=options.branch, overwrite=options.force)
    if options.json:
        console.json({"path": str(path), "format": format})
    else:
        console.message(f"Written: {path}")
    return DONE


def take_in(options: argparse.Namespace) -> int:
    """Files one by one; what cannot be imported is named and does not keep the others out (exit code 4)."""
    console, refused = Console(), 0
    with opened() as collection:
        for name in options.files:
            try:
                taken = collection.take_in(Path(name).expanduser())
            except StoreError as error:
                refused += 1
                console.message(f"{error.filename}: {error.strerror}")
                continue
            chat = taken.conversation
            if options.json:
                facts = {"id": chat.id, "title": chat.title, "path": str(taken.path), "new": taken.new}
                console.json({"file": name, **facts, "note": taken.note})
            else:
                note = f" ({taken.note})" if taken.note else ""
                console.message(f"{name}: {chat.id} {chat.title}{note}")
    return FILES if refused else DONE


def _marked(text: str, found: tuple[Span, ...], bold: bool) -> str:
    """The text with what was found in bold, for a terminal; it has no control characters of its own."""
    if not bold:
        return text
    for start, end in reversed(found):
        text = f"{text[:start]}{_BOLD}{text[start:end]}{_PLAIN}{text[end:]}"
    return text
