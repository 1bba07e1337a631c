"""Hashes a file while it is being written, from what is on disk: a resumed part is hashed from its first byte."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable

from edge0_tui.manager.digest import PIECE, Digest
from edge0_tui.manager.errors import StoppedError

_STEP = 1 << 20


class Follower(threading.Thread):
    """Reads behind the writer. `on_hashed` is told on this thread how many bytes have been hashed; `sync` is called
    with that number after each `synced_every` bytes, on another one: hashing does not wait for the disk."""

    def __init__(
        self,
        descriptor: int,
        size: int,
        *,
        git: bool,
        on_hashed: Callable[[int], None],
        sync: Callable[[int], None],
        synced_every: int,
    ) -> None:
        super().__init__(daemon=True, name="follower")
        self._descriptor, self._size, self._git = descriptor, size, git
        self._on_hashed, self._sync, self._synced_every = on_hashed, sync, synced_every
        self._step = min(_STEP, synced_every // 4)
        self._available, self._over = 0, False
        self._changed = threading.Condition()
        self._error: OSError | None = None
        self._hex = ""
        self._syncing: threading.Thread | None = None

    def allow(self, available: int) -> None:
        """The first `available` bytes are there. Called by the writer alone."""
        # Woken for each piece of a fast connection it would only be in the writer's way.
        if available - self._available >= self._step or available == self._size:
            with self._changed:
                self._available = available
                self._changed.notify()

    def abandon(self) -> None:
        """Stop; the hash is not wanted any more. Returns when nothing is read from the descriptor any longer."""
        with self._changed:
            self._over = True
            self._changed.notify()
        if self.is_alive():
            self.join()

    def hex(self, stop: threading.Event) -> str:
        """The hash of the whole file, once all bytes have been allowed. Raises `OSError` and `StoppedError`."""
        while self.is_alive():
            if stop.is_set():
                raise StoppedError("Stopped.")
            self.join(0.05)
        if self._error is not None:
            raise self._error
        return self._hex

    def run(self) -> None:
        try:
            self._hash()
        except OSError as error:
            self._error = error
        finally:
            if self._syncing is not None:
                self._syncing.join()

    def _hash(self) -> None:
        digest = Digest(self._size, git=self._git)
        buffer = memoryview(bytearray(min(PIECE, max(self._size, 1))))
        hashed = synced = 0
        while hashed < self._size:
            with self._changed:
                while self._available <= hashed and not self._over:
                    self._changed.wait()
                if self._over:
                    return
                available = self._available
            count = os.preadv(self._descriptor, [buffer[: available - hashed]], hashed)
            if not count:
                raise OSError("the unfinished file was cut short by somebody else")
            digest.update(buffer[:count])
            hashed += count
            self._on_hashed(hashed)
            # What remains at the end is synced by whoever gives the file its name.
            idle = self._syncing is None or not self._syncing.is_alive()
            if hashed - synced >= self._synced_every and hashed < self._size and idle:
                synced = hashed
                self._syncing = threading.Thread(target=self._force, args=(hashed,), daemon=True, name="sync")
                self._syncing.start()
        self._hex = digest.hex()

    def _force(self, hashed: int) -> None:
        try:
            self._sync(hashed)
        except OSError as error:
            self._error = error
