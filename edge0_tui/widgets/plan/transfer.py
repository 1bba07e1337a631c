"""A download or a verification under way, in rows that do not jump; and the short form for lists and headers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content

from edge0_tui import units
from edge0_tui.widgets.bars import meter
from edge0_tui.widgets.plan.rows import Rows, pair, wrapped

if TYPE_CHECKING:
    from edge0_tui.manager.events import Download, Progress
    from edge0_tui.model_jobs import Check

_PHASES = {
    "asking": "asking the hub",
    "downloading": "downloading",
    "verifying": "verifying what is here",
    "done": "done",
}
_STATES = {"paused": "paused; what has arrived is kept", "failed": "failed", "done": "installed and verified"}


def transfer_rows(item: Download, width: int) -> Rows:
    """Bar, bytes, rate and time left; then what stalls it or went wrong, and what to do."""
    progress, running = item.progress, item.state == "running"
    words = _PHASES[progress.phase] if running else _STATES.get(item.state, item.state)
    rows = progress_rows(progress, words, width, moving=running)
    if running and progress.stalled:
        rows += wrapped(progress.stalled, width, "$warning")
    if progress.note:
        rows += wrapped(progress.note, width, "$text-muted")
    if item.state == "failed":
        rows += wrapped(item.error, width, "$error")
        rows += wrapped(item.hint, width, "$text-muted")
    return rows


def progress_rows(progress: Progress, words: str, width: int, *, moving: bool) -> Rows:
    """The bar with its percentage, and a row of figures in columns of their own."""
    full, rest = meter(progress.share, max(4, width - 8))
    share = f"{progress.share * 100:.1f} %" if progress.total_bytes else ""
    colour = "$accent" if moving else "$primary"
    bar = Content.assemble((full, colour), (rest, "$hairline"), (share.rjust(8), "$foreground"))
    total = units.size(progress.total_bytes or None)
    done = units.size(progress.done_bytes)
    if moving:
        done = done.rjust(len(total))
    parts = [words]
    if progress.total_bytes:
        parts.append(f"{done} of {total}")
    if progress.files_total:
        parts.append(f"{progress.files_done} of {progress.files_total} files")
    if moving and not progress.stalled and progress.total_bytes:
        parts.append(units.rate(progress.rate).rjust(8))
        parts.append(f"{left(progress.eta_s)} left")
    lines: Rows = [bar]
    line = Content("")
    for index, part in enumerate(parts):
        piece = Content.styled(part, "$foreground" if index == 0 else "$text-muted")
        if line.cell_length and line.cell_length + 3 + piece.cell_length > width:
            lines.append(line)
            line, piece = Content(""), Content.styled(part.lstrip(), "$text-muted")
        line = Content.assemble(line, (" · " if line.cell_length else "", "$text-disabled"), piece)
    return [*lines, line]


def left(seconds: float | None) -> str:
    """Time left in a column of nine cells: `    12 s`, ` 3 min 05`, `2 h 10 min`."""
    if seconds is None:
        return "–".rjust(9)
    whole = int(seconds)
    if whole < 60:
        return f"{whole} s".rjust(9)
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d}".rjust(9)
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min".rjust(9)


def check_rows(check: Check, width: int) -> Rows:
    """A verification: its progress, or what it found."""
    if check.error:
        return wrapped(check.error, width, "$error")
    if check.verdict is None:
        from edge0_tui.manager.events import Progress

        return progress_rows(check.progress or Progress("verifying"), "verifying", width, moving=True)
    from edge0_tui.manager.verdict import BAD

    verdict = check.verdict
    rate = units.rate(verdict.bytes / verdict.seconds if verdict.seconds else None)
    said = f"Verified: {verdict.message} ({units.size(verdict.bytes)} at {rate})."
    rows = wrapped(said if verdict.ok else f"Not as it should be: {verdict.message}", width, _tone(verdict.ok))
    for file in verdict.files:
        if file.outcome in BAD:
            rows += pair(file.outcome, f"{file.name} {file.detail}", width, "$error")
    return rows


def _tone(ok: bool) -> str:
    return "$success" if ok else "$error"


def short(item: Download) -> str:
    """For the header: `8b 43 %`, with what it waits for."""
    from pathlib import Path

    name = Path(item.key).name.replace("--", "/")
    progress = item.progress
    if progress.phase == "asking" or not progress.total_bytes:
        return f"{name} …"
    word = " verifying" if progress.phase == "verifying" else " stalled" if progress.stalled else ""
    return f"{name}{word} {int(progress.share * 100):>2} %"
