"""One line of the list of chats, from the head of the file alone."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from edge0_tui.chat import front_matter
from edge0_tui.chat.codec import moment
from edge0_tui.chat.errors import FormatError

_HEAD = 16 * 1024


@dataclass(frozen=True)
class Summary:
    """`problem` says what is wrong with a file that is listed all the same; its `id` is then its name."""

    path: Path
    id: str
    title: str
    updated: datetime
    created: datetime
    model: str = ""
    turns: int = 0
    pinned: bool = False
    archived: bool = False
    problem: str = ""


def summarise(path: Path) -> Summary:
    """Never fails: what cannot be read is a summary with a problem."""
    values: dict[str, front_matter.Value] = {}
    try:
        with path.open("rb") as file:
            values, _ = front_matter.read(file.read(_HEAD).decode("utf-8", "replace"))
        return Summary(
            path=path,
            id=str(values["id"]),
            title=str(values.get("title") or "") or path.stem,
            updated=moment(values["updated"]),
            created=moment(values["created"]),
            model=str(values.get("model") or ""),
            turns=int(values.get("turns") or 0),
            pinned=bool(values.get("pinned")),
            archived=bool(values.get("archived")),
        )
    except OSError as error:
        return _damaged(path, error.strerror or str(error))
    except KeyError as error:
        return _damaged(path, f"front matter: {error.args[0]} is missing", values)
    except (FormatError, ValueError, TypeError) as error:
        return _damaged(path, str(error), values)


def _damaged(path: Path, problem: str, values: Mapping[str, front_matter.Value] | None = None) -> Summary:
    changed = datetime.fromtimestamp(0, UTC)
    with contextlib.suppress(OSError):
        changed = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    title = str((values or {}).get("title") or path.stem)
    return Summary(path, path.stem, title, changed, changed, problem=problem)
