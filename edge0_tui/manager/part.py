"""A file that is arriving: one `.part` that only grows, and a sidecar that says what it is going to be.

The part's size is what has arrived; nothing else has to be written for a resume after kill -9. After a reboot only
what had been forced to the disk is trusted.
"""

from __future__ import annotations

import contextlib
import os
import threading
from pathlib import Path

from edge0_tui.manager.files import read_json, sync_folder, write_json
from edge0_tui.manager.hub import RemoteFile

SUFFIX = ".part"
SIDECAR = ".part.json"


class Part:
    """Opened for one transfer. All methods raise `OSError`."""

    def __init__(self, folder: Path, file: RemoteFile, commit: str, url: str) -> None:
        self.final = folder / file.name
        self.path = self.final.with_name(self.final.name + SUFFIX)
        self._sidecar = self.final.with_name(self.final.name + SIDECAR)
        self.final.parent.mkdir(exist_ok=True)
        self._lock = threading.Lock()
        self.descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
        self._about = {
            "name": file.name,
            "bytes": file.bytes,
            "sha256": file.sha256,
            "git_sha1": file.git_sha1,
            "commit": commit,
            "url": url,
            "boot": boot_id(),
        }
        self.etag, self._synced = "", 0
        self.size = self._trusted()
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
            self._save()

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

    def _trusted(self) -> int:
        """How many bytes on the disk belong to this file."""
        said, size = read_json(self._sidecar), os.fstat(self.descriptor).st_size
        if any(said.get(key) != self._about[key] for key in ("name", "bytes", "sha256", "git_sha1")):
            return 0
        synced = said.get("synced")
        self._synced = min(synced, size) if type(synced) is int and synced > 0 else 0
        if said.get("boot") != self._about["boot"]:
            size = self._synced
        if size > int(str(self._about["bytes"])):
            return 0
        # Another commit with the same content may be served with another etag.
        if size and said.get("commit") == self._about["commit"] and isinstance(said.get("etag"), str):
            self.etag = said["etag"]
        return size

    def _save(self) -> None:
        write_json(self._sidecar, {**self._about, "etag": self.etag, "synced": self._synced}, sync=False)


def boot_id() -> str:
    """Tells one run of the operating system from the next."""
    with contextlib.suppress(OSError):
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    import psutil

    return str(int(psutil.boot_time()) // 60)
