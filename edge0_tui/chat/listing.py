"""Which files of a directory are chats, and in which order a list shows them."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from edge0_tui.chat import files, sidecar
from edge0_tui.chat.errors import FormatError, StoreError
from edge0_tui.chat.summary import Summary, summarise

_CLOCKS = 2.0
"""Seconds by which a file's time may lie before that of the text in it."""


@dataclass(frozen=True)
class Pair:
    """A Markdown file and its sidecar, at least one of which is there. `stamp` changes when either does.

    `changed` is when the Markdown was written, in seconds since 1970.
    """

    path: Path
    stamp: str
    orphan: bool = False
    changed: float = 0.0


def scan(directory: Path) -> Sequence[Pair]:
    """The pairs of a directory, without opening any. Raises `StoreError`; no directory is an empty one."""
    statuses: dict[str, dict[str, os.stat_result]] = {}
    try:
        with os.scandir(directory) as entries:
            for entry in entries:
                stem, suffix = os.path.splitext(entry.name)  # noqa: PTH122
                if suffix in (".md", ".json") and not entry.name.startswith("."):
                    with contextlib.suppress(FileNotFoundError):
                        statuses.setdefault(stem, {})[suffix] = entry.stat()
    except FileNotFoundError:
        return []
    except OSError as error:
        raise StoreError.at(directory, error) from error
    return [_pair(directory / f"{stem}.md", parts) for stem, parts in statuses.items() if parts]


def look(pair: Pair) -> Summary | None:
    """The summary of a pair, read from disk; None for what is no chat any more."""
    return _orphan(pair.path) if pair.orphan else summarise(pair.path)


def catalogue(directory: Path, look: Callable[[Pair], Summary | None] = look) -> Sequence[Summary]:
    """All chats, latest first. Damaged files are in it with their problem."""
    return arrange(summary for pair in scan(directory) if (summary := look(pair)) is not None)


def arrange(found: Iterable[Summary]) -> Sequence[Summary]:
    """Latest first; of several files with one id the latest keeps it, the others go by their names."""
    summaries = sorted(found, key=lambda summary: summary.updated, reverse=True)
    seen: set[str] = set()
    result: list[Summary] = []
    for summary in summaries:
        if summary.id in seen:
            summary = replace(summary, id=summary.path.stem, problem="an earlier file of the same chat")
        seen.add(summary.id)
        result.append(summary)
    return result


def pinned_first(summaries: Iterable[Summary]) -> Sequence[Summary]:
    """As lists show them; what is latest stays first within both parts."""
    return sorted(summaries, key=lambda summary: not summary.pinned)


def latest(directory: Path) -> Summary | None:
    """The chat that was gone on with last, without archived and damaged ones; opens as few files as it can.

    No chat is newer than its file. So what comes after a file older than the best found so far need not be read.
    """
    best: Summary | None = None
    for pair in sorted(scan(directory), key=lambda pair: pair.changed, reverse=True):
        if best is not None and best.updated.timestamp() > pair.changed + _CLOCKS:
            break
        chat = look(pair)
        if chat and not chat.problem and not chat.archived and (best is None or chat.updated > best.updated):
            best = chat
    return best


def _pair(path: Path, parts: dict[str, os.stat_result]) -> Pair:
    stamp = "|".join(_stamp(parts.get(suffix)) for suffix in (".md", ".json"))
    first = parts.get(".md", next(iter(parts.values())))
    return Pair(path, stamp, ".md" not in parts, first.st_mtime)


def _stamp(status: os.stat_result | None) -> str:
    return f"{status.st_ino}:{status.st_size}:{status.st_mtime_ns}" if status else "-"


def _orphan(path: Path) -> Summary | None:
    """A sidecar without Markdown. One whose first Markdown was never written is a chat that a crash cut off
    during its first save; any other has lost its Markdown to somebody who deleted it."""
    try:
        whole = sidecar.read(files.read(sidecar.path_of(path)) or b"")
    except (FormatError, StoreError):
        return None
    if len(whole.markdown) > 1:
        return None
    chat = whole.conversation
    return Summary(path, chat.id, chat.title, chat.updated, chat.created, turns=len(chat.turns))
