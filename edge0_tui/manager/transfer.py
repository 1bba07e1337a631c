"""One file from the hub to the disk: ranges, retries, hashing on the way, its name only when the hash is right."""

from __future__ import annotations

import contextlib
import threading
from dataclasses import dataclass
from pathlib import Path

from edge0_tui import units
from edge0_tui.manager import statuses, web
from edge0_tui.manager.content_range import whole_size
from edge0_tui.manager.digest import hash_file
from edge0_tui.manager.disk_errors import disk_error
from edge0_tui.manager.errors import HubError, StoppedError
from edge0_tui.manager.follower import Follower
from edge0_tui.manager.hub import RemoteFile
from edge0_tui.manager.part import Part
from edge0_tui.manager.tuning import Tuning
from edge0_tui.manager.waiting import Waiting
from edge0_tui.manager.web import Reply, TransportError

_RETRIED = (408, 425, 429, 500, 502, 503, 504)
_MOST_WRONG_RANGES = 3
_LONGEST_ASKED = 300.0


class Again(Exception):  # noqa: N818 - not an error yet
    """This attempt failed; another one may not. `wait`: seconds the server asks for."""

    def __init__(self, why: str, wait: float = 0.0, refusal: HubError | None = None) -> None:
        super().__init__(why)
        self.wait, self.refusal = wait, refusal


@dataclass
class FileState:
    """What the meter reads while a transfer runs, in bytes: on the disk, hashed, received by this process."""

    file: RemoteFile
    arrived: int = 0
    hashed: int = 0
    received: int = 0
    stalled: str = ""
    note: str = ""
    done: bool = False


class Transfer:
    """One file's way. `run` blocks until the file is whole and verified."""

    def __init__(
        self,
        folder: Path,
        commit: str,
        url: str,
        token: str,
        tuning: Tuning,
        state: FileState,
        stop: threading.Event,
    ) -> None:
        self._folder, self._commit, self._url, self._token = folder, commit, url, token
        self._tuning, self._state, self._stop = tuning, state, stop
        self._file = state.file
        self._host = web.host(url)
        self._wrong_ranges = 0
        self._reply: Reply | None = None

    def interrupt(self) -> None:
        """From another thread, after `stop` has been set: do not wait for the server any longer."""
        if self._reply is not None:
            self._reply.abort()

    def run(self) -> None:
        """Raises `HubError`, `SpaceError`, `CheckpointError`, `StoppedError`; the part is kept with all of them."""
        try:
            if self._is_there():
                self._state.done = True
                return
            for _ in range(2):
                if self._fetch():
                    self._state.done = True
                    return
                self._state.note = f"{self._file.name} arrived damaged and is fetched anew."
        except OSError as error:
            raise disk_error(self._folder, error) from None
        raise HubError(
            f"{self._file.name} arrived twice with another hash than {self._host} states for it.",
            "Something on the way changes it; try another network.",
        )

    def _is_there(self) -> bool:
        """Whether the whole file is there already with the right hash. A wrong one stays until it is replaced."""
        path, file = self._folder / self._file.name, self._file
        if not path.is_file() or path.is_symlink() or path.stat().st_size != file.bytes:
            return False
        self._state.arrived = file.bytes
        good = hash_file(path, git=not file.sha256, on_bytes=self._hashed, stop=self._stop) == expected(file)
        if not good:
            self._state.arrived = self._state.hashed = 0
        return good

    def _hashed(self, count: int) -> None:
        self._state.hashed = count

    def _fetch(self) -> bool:
        """Fetch what is missing. False if the whole has another hash; nothing is left of it then."""
        part = Part(self._folder, self._file, self._commit, self._url)
        follower = self._follow(part)
        try:
            waiting = Waiting(self._tuning)
            while part.size < self._file.bytes:
                before = part.size
                try:
                    follower = self._attempt(part, follower)
                except (TransportError, Again) as failed:
                    if part.size > before:
                        waiting.arrived()
                    self._pause(failed, waiting)
            self._state.stalled = ""
            good = follower.hex(self._stop) == expected(self._file)
            if good:
                part.publish()
            else:
                part.discard()
            return good
        finally:
            follower.abandon()
            part.close()

    def _follow(self, part: Part) -> Follower:
        self._state.arrived, self._state.hashed = part.size, 0
        follower = Follower(
            part.descriptor,
            self._file.bytes,
            git=not self._file.sha256,
            on_hashed=self._hashed,
            sync=part.sync,
            synced_every=self._tuning.synced_every,
        )
        follower.allow(part.size)
        follower.start()
        return follower

    def _attempt(self, part: Part, follower: Follower) -> Follower:
        """One connection; appends until it ends. Returns the follower, a new one if the file had to start anew."""
        headers = {}
        if part.size:
            headers["Range"] = f"bytes={part.size}-"
            if part.etag:
                headers["If-Range"] = part.etag
        with contextlib.closing(self._ask(headers)) as reply:
            self._reply = reply
            if self._check(reply, part):
                follower.abandon()
                part.restart()
                follower = self._follow(part)
            if not part.size:
                part.begin(reply.headers.get("ETag", ""))
            self._receive(reply, part, follower)
        if part.size < self._file.bytes:
            raise Again(f"{self._host} ended the connection early")
        return follower

    def _ask(self, headers: dict[str, str]) -> Reply:
        return web.get(self._url, token=self._token, headers=headers, timeout=self._tuning.silence)

    def _check(self, reply: Reply, part: Part) -> bool:
        """Whether what arrived before has to be dropped. Raises `Again` and `HubError`."""
        file, asked = self._file, bool(part.size)
        if (
            reply.linked_etag
            and len(reply.linked_etag) == 64
            and file.sha256 not in ("", reply.linked_etag.lower())
        ):
            raise self._changed("with another hash")
        if reply.status == 206:
            try:
                total = whole_size(reply.headers.get("Content-Range", ""), part.size)
                if not asked:
                    raise ValueError("a part of the file was sent, but the whole was asked for")
            except ValueError as error:
                self._wrong_ranges += 1
                if self._wrong_ranges >= _MOST_WRONG_RANGES:
                    raise HubError(
                        f"{reply.host} does not answer as HTTP asks for: {error}.",
                        "Check HF_ENDPOINT or the proxy.",
                    ) from None
                raise Again(f"{reply.host} sent the wrong bytes") from None
            self._same_size(total)
            etag = reply.headers.get("ETag", "")
            if part.etag and etag and etag != part.etag:
                raise self._changed("while it was being fetched")
            return False
        if reply.status == 200:
            length = reply.headers.get("Content-Length", "")
            self._same_size(int(length) if length.isdigit() else None)
            if reply.headers.get("Content-Encoding", "identity") != "identity":
                raise HubError(f"{reply.host} sends {file.name} compressed, which was not asked for.")
            if asked:
                etag = reply.headers.get("ETag", "")
                changed = bool(part.etag) and etag != part.etag
                why = "changed on the hub" if changed else "cannot be continued by the server"
                self._state.note = f"{file.name} {why} and starts anew."
            return asked
        raise self._refused(reply)

    def _same_size(self, total: int | None) -> None:
        if total is not None and total != self._file.bytes:
            raise self._changed(f"with {total:,} bytes instead of {self._file.bytes:,}")

    def _changed(self, how: str) -> HubError:
        return HubError(
            f"{self._file.name} is another file on {self._host} now, {how}.",
            "Start the download again: it asks for the present version.",
        )

    def _refused(self, reply: Reply) -> Exception:
        if reply.status == 416:
            return self._changed("shorter than it was")
        after = reply.headers.get("Retry-After", "")
        code = reply.headers.get("X-Error-Code", "")
        refusal = statuses.refused(reply.status, self._file.name, reply.host, code, after)
        # A link to the storage behind the hub is valid for some time only; the hub gives out a new one.
        expired = reply.status in (401, 403) and reply.host != self._host
        if reply.status not in _RETRIED and not expired:
            return refusal
        wait = min(float(after), _LONGEST_ASKED) if after.isdigit() else 0.0
        return Again(f"{reply.host} answered {reply.status}", wait, refusal)

    def _receive(self, reply: Reply, part: Part, follower: Follower) -> None:
        buffer = memoryview(bytearray(min(self._tuning.piece, self._file.bytes + 1)))
        while count := reply.read_into(buffer):
            if self._stop.is_set():
                raise StoppedError("Stopped.")
            if part.size + count > self._file.bytes:
                raise self._changed("longer than it was")
            part.write(buffer[:count])
            follower.allow(part.size)
            state = self._state
            state.arrived, state.stalled = part.size, ""
            state.received += count

    def _pause(self, failed: Exception, waiting: Waiting) -> None:
        if self._stop.is_set():
            raise StoppedError("Stopped.")
        refusal = failed.refusal if isinstance(failed, Again) else None
        wait = waiting.next(failed.wait if isinstance(failed, Again) else 0.0)
        if wait is None:
            raise refusal or HubError(
                f"{self._file.name}: {failed}; nothing has arrived for too long.", "Start it again: it goes on."
            )
        self._state.stalled = f"{failed}; next attempt in {units.seconds(wait)}"
        if self._stop.wait(wait):
            raise StoppedError("Stopped.")
        self._state.stalled = f"{failed}; trying again"


def expected(file: RemoteFile) -> str:
    """The hash a file has to have, of the kind the hub states for it."""
    return file.sha256 or file.git_sha1
