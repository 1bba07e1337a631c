"""Remembers that the introduction has been seen, by an empty file in the data folder."""

from __future__ import annotations

import contextlib

from edge0_tui.paths import Paths

_MARK = "tour-seen"


def is_first_run(paths: Paths) -> bool:
    """Nobody has seen the introduction here and nobody has chatted."""
    return not (paths.data / _MARK).exists() and not paths.transcripts.exists()


def remember(paths: Paths) -> None:
    """Where this cannot be written, the introduction comes again; nothing else can be done about it."""
    with contextlib.suppress(OSError):
        paths.data.mkdir(parents=True, exist_ok=True)
        (paths.data / _MARK).touch()
