"""Verification: every file is read whole and hashed, several at a time. Blocks; meant for a thread or a command."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from edge0_tui.manager.digest import hash_file
from edge0_tui.manager.errors import InUseError
from edge0_tui.manager.events import Progress
from edge0_tui.manager.known_hashes import Known, known_hashes
from edge0_tui.manager.record import Record, read_record
from edge0_tui.manager.verdict import BAD, FileVerdict, Verdict, keep_verdict, last_verdict
from edge0_tui.manager.writer_lock import writing
from edge0_tui.paths import Paths
from engine.errors import CheckpointError

PARALLEL = 4
_EVERY = 0.1

__all__ = ["FileVerdict", "Verdict", "last_verdict", "verify"]


def verify(
    path: Path,
    paths: Paths,
    on_progress: Callable[[Progress], None] | None = None,
    stop: threading.Event | None = None,
) -> Verdict:
    """Hash all files of the directory and keep the verdict for `last_verdict`.

    `on_progress` is called on this thread, at most ten times a second. Raises `StoppedError` when `stop` is set,
    and `CheckpointError` when the directory cannot be looked at.
    """
    path = path.absolute()
    record = read_record(path)
    try:
        known = known_hashes(path, record)
    except OSError as error:
        raise CheckpointError(f"{path}: {error.strerror or error}.", "Name a checkpoint's directory.") from None
    if not known:
        raise CheckpointError(f"{path} holds no files of a checkpoint.", "Name a checkpoint's directory.")
    began = time.monotonic()
    files = _hash_all(path, known, on_progress or (lambda _: None), stop or threading.Event())
    files = _compared(files, last_verdict(path, paths))
    message = _message(path, files)
    verdict = Verdict(
        str(path),
        not message,
        datetime.now(UTC).isoformat(timespec="seconds"),
        time.monotonic() - began,
        sum(file.bytes for file in files),
        tuple(files),
        message or "every file is as it should be",
    )
    # A disk that cannot be written to must not keep anybody from knowing.
    with contextlib.suppress(OSError):
        keep_verdict(verdict, paths)
    if record is not None:
        with contextlib.suppress(OSError, InUseError), writing(path):
            _noted(record, files).save(path)
    return verdict


def _hash_all(
    path: Path, known: Sequence[Known], tell: Callable[[Progress], None], stop: threading.Event
) -> list[FileVerdict]:
    sizes = [_size(path / item.name) for item in known]
    total, began = sum(sizes), time.monotonic()
    hashed = [0] * len(known)
    order = sorted(range(len(known)), key=lambda index: -sizes[index])
    with ThreadPoolExecutor(min(PARALLEL, os.cpu_count() or 1), "verify") as pool:
        futures: dict[Future[FileVerdict], int] = {
            pool.submit(_one, path, known[index], _counter(hashed, index), stop): index for index in order
        }
        waiting = set(futures)
        try:
            while waiting:
                done, waiting = wait(waiting, _EVERY, FIRST_COMPLETED)
                for future in done:
                    future.result()
                seconds, count = time.monotonic() - began, sum(hashed)
                rate = count / seconds if seconds > 0.2 else None
                eta = (total - count) / rate if rate else None
                over = len(known) - len(waiting)
                tell(Progress("verifying", count, total, rate, eta, files_done=over, files_total=len(known)))
        except BaseException:
            stop.set()
            raise
    verdicts = {index: future.result() for future, index in futures.items()}
    return [verdicts[index] for index in range(len(known))]


def _counter(counts: list[int], index: int) -> Callable[[int], None]:
    def count(done: int) -> None:
        counts[index] = done

    return count


def _one(path: Path, known: Known, on_bytes: Callable[[int], None], stop: threading.Event) -> FileVerdict:
    file = path / known.name
    try:
        status = file.stat()
        if known.bytes not in (None, status.st_size):
            detail = f"{known.bytes:,} bytes expected"
            return FileVerdict(known.name, status.st_size, "wrong size", detail, "", status.st_mtime_ns)
        found = hash_file(file, git=bool(known.git_sha1), on_bytes=on_bytes, stop=stop)
    except FileNotFoundError:
        return FileVerdict(known.name, 0, "missing")
    except OSError as error:
        return FileVerdict(known.name, 0, "unreadable", str(error.strerror or error))
    outcome = FileVerdict(known.name, status.st_size, "recorded", "", found, status.st_mtime_ns)
    if not known.hash:
        return outcome
    if found == known.hash:
        return replace(outcome, outcome="good", detail=known.by)
    return replace(
        outcome, outcome="different", detail=f"{known.by} states {known.hash[:12]}…, it has {found[:12]}…"
    )


def _compared(files: Sequence[FileVerdict], last: Verdict | None) -> list[FileVerdict]:
    """What nobody states a hash for is held against the first verification."""
    before = {file.name: file.baseline for file in (last.files if last else ()) if file.baseline}
    return [
        _against(file, before.get(file.name, file.hash)) if file.outcome == "recorded" else file for file in files
    ]


def _against(file: FileVerdict, baseline: str) -> FileVerdict:
    file = replace(file, baseline=baseline)
    if baseline != file.hash:
        return replace(file, outcome="different", detail="it was another one when it was first verified")
    return file


def _message(path: Path, files: Sequence[FileVerdict]) -> str:
    """What is wrong, empty if nothing is."""
    bad = [file for file in files if file.outcome in BAD]
    if bad:
        first = f"{bad[0].name}: {bad[0].outcome}"
        return first if len(bad) == 1 else f"{first}, and {len(bad) - 1} more"
    from engine.checkpoint.checkpoint import open_checkpoint

    try:
        open_checkpoint(path)
    except CheckpointError as error:
        return error.message
    return ""


def _noted(record: Record, files: Sequence[FileVerdict]) -> Record:
    """The record, with each file verified if and only if it was good."""
    by_name = {file.name: file for file in files}
    return replace(
        record,
        files=tuple(
            replace(file, mtime_ns=by_name[file.name].mtime_ns if by_name[file.name].outcome == "good" else 0)
            for file in record.files
        ),
    )


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
