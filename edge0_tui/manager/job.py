"""A whole download: asks the hub, checks the space, runs the transfers, keeps the record. Blocks."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, SimpleQueue

from edge0_tui.manager import catalog, hub
from edge0_tui.manager.disk_errors import disk_error, no_room
from edge0_tui.manager.errors import StoppedError
from edge0_tui.manager.events import Progress
from edge0_tui.manager.meter import Meter
from edge0_tui.manager.part import arrived
from edge0_tui.manager.record import Record, read_record
from edge0_tui.manager.repo_id import RepoId
from edge0_tui.manager.transfer import FileState, Transfer
from edge0_tui.manager.tuning import Tuning
from edge0_tui.manager.wanted import as_published, new_record
from edge0_tui.manager.writer_lock import writing
from engine.errors import EngineError

_EVERY = 0.1
_SPACE_EVERY = 1.0
_LARGE = 64 << 20
_JOIN = 1.0


@dataclass
class Job:
    """Fetches one repository into `folder`. `emit` is called with progress, at most ten times a second."""

    id: RepoId
    folder: Path
    tuning: Tuning
    emit: Callable[[Progress], None]
    stop: threading.Event = field(default_factory=threading.Event)

    def run(self) -> Record:
        """Returns when every file is verified. Raises `EngineError`; what has arrived is kept."""
        try:
            with writing(self.folder):
                return self._run()
        except OSError as error:
            raise disk_error(self.folder, error) from None

    def _run(self) -> Record:
        self.emit(Progress("asking"))
        repo = self._ask()
        self.folder.mkdir(exist_ok=True)
        entry = catalog.pinned(self.id)
        self._record = new_record(repo, self.id.revision, entry, read_record(self.folder))
        self._states = [FileState(file) for file in repo.files]
        self._urls = {file.name: repo.url(file.name) for file in repo.files}
        self._look_at_disk()
        self._check_space()
        self._record.save(self.folder)
        self._transfer()
        return self._record

    def _ask(self) -> hub.RemoteRepo:
        repo = hub.ask(self.id)
        entry = catalog.pinned(self.id)
        return as_published(entry, repo) if entry else repo

    def _look_at_disk(self) -> None:
        """What is verified is not looked at again; what is there in whole or in part counts as arrived."""
        verified = {file.name for file in self._record.files if file.holds(self.folder)}
        for state in self._states:
            file, path = state.file, self.folder / state.file.name
            if file.name in verified:
                state.arrived = state.hashed = file.bytes
                state.done = True
            elif path.is_file() and path.stat().st_size == file.bytes:
                state.arrived = file.bytes
            else:
                state.arrived = arrived(self.folder, file).bytes

    def _check_space(self) -> None:
        missing = sum(state.file.bytes - state.arrived for state in self._states)
        free = shutil.disk_usage(self.folder).free
        if missing and free < missing + self.tuning.reserve:
            raise no_room(self.folder, missing + self.tuning.reserve, free)

    def _transfer(self) -> None:
        """Run the transfers, small files first, then the largest; the first error that ends one ends all."""
        waiting = sorted(
            (state for state in self._states if not state.done),
            key=lambda state: (state.file.bytes > _LARGE, -state.file.bytes),
        )
        work: SimpleQueue[FileState] = SimpleQueue()
        for state in waiting:
            work.put(state)
        self._running: list[Transfer] = []
        self._results: SimpleQueue[FileState | EngineError] = SimpleQueue()
        token = hub.token()
        # Daemons: one that waits for a connection to be made must not keep the process from ending.
        threads = [
            threading.Thread(target=self._work, args=(work, token), name=f"transfer-{number}", daemon=True)
            for number in range(min(self.tuning.parallel, len(waiting)))
        ]
        for thread in threads:
            thread.start()
        try:
            self._watch(len(waiting))
        finally:
            # Nobody writes any more when the lock is given back.
            self.stop.set()
            for transfer in list(self._running):
                transfer.interrupt()
            for thread in threads:
                thread.join(_JOIN)

    def _work(self, work: SimpleQueue[FileState], token: str) -> None:
        try:
            while not self.stop.is_set():
                state = work.get_nowait()
                url = self._urls[state.file.name]
                transfer = Transfer(self.folder, self._record.commit, url, token, self.tuning, state, self.stop)
                self._running.append(transfer)
                transfer.run()
                self._results.put(state)
        except Empty:
            pass
        except EngineError as error:
            self._results.put(error)
        except Exception as error:  # noqa: BLE001 - a thread's error must not get lost
            self._results.put(EngineError(f"The download failed unexpectedly ({error!r})."))

    def _watch(self, left: int) -> None:
        meter = Meter(self._states)
        self.emit(meter.look())
        looked, told = 0.0, time.monotonic()
        while left:
            try:
                result = self._results.get(timeout=_EVERY)
            except Empty:
                pass
            else:
                if isinstance(result, EngineError):
                    raise result
                self._verified(result)
                left -= 1
            if self.stop.is_set():
                raise StoppedError("Stopped.", "What has arrived is kept.")
            now = time.monotonic()
            if now - told >= _EVERY:
                told = now
                self.emit(meter.look())
            if now - looked >= _SPACE_EVERY:
                looked = now
                self._watch_space()
        self.emit(meter.look())

    def _watch_space(self) -> None:
        """Stop before the disk is quite full: others live on it, too."""
        free = shutil.disk_usage(self.folder).free
        missing = sum(state.file.bytes - state.arrived for state in self._states)
        if missing and free < self.tuning.reserve // 4:
            raise no_room(self.folder, missing + self.tuning.reserve, free)

    def _verified(self, state: FileState) -> None:
        old = next(file for file in self._record.files if file.name == state.file.name)
        self._record = self._record.with_files([old.verified(self.folder)])
        self._record.save(self.folder)
