"""`edge0-tui models get`: fetch a model, or go on with one whose download was interrupted."""

from __future__ import annotations

import argparse
import asyncio
import time
from dataclasses import asdict
from pathlib import Path

from edge0_tui import exit_codes, units
from edge0_tui.console import Console
from edge0_tui.exit_codes import DONE
from edge0_tui.manager.downloads import Downloads
from edge0_tui.manager.events import Progress
from edge0_tui.paths import find_paths

_EVERY = 10.0
_PHASES = {"asking": "asking the hub", "downloading": "downloading", "verifying": "verifying", "done": "done"}


def get(options: argparse.Namespace) -> int:
    """Progress goes to standard error, one object to standard output with --json. Ctrl+c keeps what has arrived."""
    return asyncio.run(_get(options))


async def _get(options: argparse.Namespace) -> int:
    console = Console()
    downloads = Downloads(find_paths())
    teller = _Teller(console)
    began = time.monotonic()
    try:
        started = await downloads.start(options.what, Path(options.into) if options.into else None)
        last = started
        async for last in downloads.watch(started.key):
            teller.tell(last.progress)
    except asyncio.CancelledError:
        await downloads.close()
        console.message("Stopped. What has arrived is kept; the same command goes on with it.")
        raise
    if options.json:
        console.json({**asdict(last), "seconds": time.monotonic() - began})
    if last.state != "done":
        console.message(f"edge0-tui: {last.error} {last.hint}".strip())
        return exit_codes.of(last.kind)
    if not options.json:
        console.data(f"{last.path}\n")
    return DONE


def line(progress: Progress) -> str:
    """One line about how far it is."""
    said = _PHASES[progress.phase]
    if not progress.total_bytes:
        return said
    if progress.phase == "done":
        return f"{said} · {units.size(progress.total_bytes)}"
    parts = [
        said,
        f"{units.size(progress.done_bytes)} of {units.size(progress.total_bytes)}",
        units.percent(progress.share),
    ]
    if progress.stalled:
        return " · ".join([*parts, progress.stalled])
    if progress.rate:
        parts += [units.rate(progress.rate), f"{units.seconds(progress.eta_s)} left"]
    return " · ".join(parts)


class _Teller:
    """Replaces one line in a terminal; elsewhere says a line when something changes, and now and then."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._said: tuple[str, str, str] = ("", "", "")
        self._at = 0.0

    def tell(self, progress: Progress) -> None:
        changed = (progress.phase, progress.note, progress.stalled)
        if progress.note and progress.note != self._said[1]:
            self._console.message(progress.note)
        if self._console.err_is_terminal:
            self._console.progress(line(progress))
        elif (changed[0], bool(changed[2])) != (self._said[0], bool(self._said[2])) or self._due():
            self._console.message(line(progress))
            self._at = time.monotonic()
        self._said = changed

    def _due(self) -> bool:
        return time.monotonic() - self._at >= _EVERY
