"""A file that is arriving: one `.part` that only grows, and a sidecar that says what it is going to be.

The part's size is what has arrived; nothing else has to be written for a resume after kill -9. After a reboot only
what had been forced to the disk is trusted.
"""

from __future__ import annotations

import contextlib
import os
import threading
from dataclasses import dataclass
from pathlib import Path

from edge0_tui.manager.files import read_json, sync_folder, write_json
from edge0_tui.manager.hub import RemoteFile

SUFFIX = ".part"
SIDECAR = ".part.json"


@dataclass(frozen=True)
class Arrived:
    """What of a file is on the disk and can be gone on with; of this `synced` bytes outlive a power cut."""

    bytes: int = 0
    synced: int = 0
    etag: str = ""
    commit: str = ""


def arrived(folder: Path, file: RemoteFile) -> Arrived:
    """Of the part of `file`; nothing where its sidecar is missing or speaks of another file."""
    final = folder / file.name
    said = read_json(final.with_name(final.name + SIDECAR))
    try:
        size = final.with_name(final.name + SUFFIX).lstat().st_size
    except OSError:
        return Arrived()
    if any(said.get(key) != value for key, value in _identity(file).items()):
        return Arrived()
    synced = said.get("synced")
    synced = min(synced, size) if type(synced) is int and synced > 0 else 0
    if said.get("boot") != boot_id():
        size = synced
    etag, commit = said.get("etag"), said.get("commit")
    if size > file.bytes or not isinstance(etag, str) or not isinstance(commit, str):
        return Arrived()
    return Arrived(size, synced, etag if size else "", commit)


def _identity(file: RemoteFile) -> dict[str, str | int]:
    return {"name": file.name, "bytes": file.bytes, "sha256": file.sha256, "git_sha1": file.git_sha1}


class Part:
    """Opened for one transfer. All methods raise `OSError`."""

    def __init__(self, folder: Path, file: RemoteFile, commit: str, url: str) -> None:
        self.final = folder / file.name
        self.path = self.final.with_name(self.final.name + SUFFIX)
        self._sidecar = self.final.with_name(self.final.name + SIDECAR)
        self.final.parent.mkdir(exist_ok=True)
        self._lock = threading.Lock()
        self.descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
        self._about = {**_identity(file), "commit": commit, "url": url, "boot": boot_id()}
        there = arrived(folder, file)
        self.size, self._synced = there.bytes, there.synced
        # Another commit with the same content may be served with another etag.
        self.etag = there.etag if there.commit == commit else ""
        os.ftruncate(self.descriptor, self.size)
        self._save()

    def write(self, data: memoryview) -> None:
        """Append. What could be written counts, also when the disk is full in the middle."""
        while data:
            written = os.pwrite(self.descriptor, data, self.size)
            self.size += written
            data = data[written:]

    def begin(self, etag: str) -> None:
        """Remember the version that the following bytes are of; only a strong etag can be compared."""
        with self._lock:
            self.etag = "" if etag.startswith("W/") else etag[:1024]
            self._save()

    def restart(self) -> None:
        """Drop all that has arrived."""
        with self._lock:
            os.ftruncate(self.descriptor, 0)
            self.size, self._synced, self.etag = 0, 0, ""
            self._save()

    def sync(self, upto: int) -> None:
        """Force the first `upto` bytes to the disk."""
        getattr(os, "fdatasync", os.fsync)(self.descriptor)
        with self._lock:
            self._synced = max(self._synced, min(upto, self.size))
            self._save(sync=True)

    def publish(self) -> None:
        """Give the whole file its name."""
        os.fsync(self.descriptor)
        self.path.replace(self.final)
        sync_folder(self.final.parent)
        self._sidecar.unlink(missing_ok=True)

    def discard(self) -> None:
        self.path.unlink(missing_ok=True)
        self._sidecar.unlink(missing_ok=True)

    def close(self) -> None:
        with contextlib.suppress(OSError):
            os.close(self.descriptor)

    def _save(self, sync: bool = False) -> None:
        write_json(self._sidecar, {**self._about, "etag": self.etag, "synced": self._synced}, sync=sync)


def boot_id() -> str:
    """Tells one run of the operating system from the next."""
    with contextlib.suppress(OSError):
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    import psutil

    return str(int(psutil.boot_time()) // 60)
