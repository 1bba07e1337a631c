"""A remote checkpoint without its weights: small files fetched, shards as headers in sparse files of the full size.

`open_checkpoint` and the planner take the directory as they take any other; only bounded ranges are fetched for it.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from edge0_tui.daemons import each_in_daemons
from edge0_tui.manager import hub, statuses, web
from edge0_tui.manager.content_range import whole_size
from edge0_tui.manager.errors import HubError
from edge0_tui.manager.hub import RemoteFile, RemoteRepo
from edge0_tui.manager.repo_id import RepoId
from engine.checkpoint.headers import MAX_HEADER_BYTES

MAX_SHARDS = 256
MAX_TOTAL = 64 << 20
PATIENCE = 120.0
"""Seconds for all headers: a hub that sends a byte now and then is never silent and never done."""
_FIRST = 256 << 10
_SMALL = ("config.json", "model.safetensors.index.json", "generation_config.json")
_MAX_SMALL = 4 << 20
_PARALLEL = 8
_SILENCE = 20.0


@contextlib.contextmanager
def skeleton(id: RepoId, *, repo: RemoteRepo | None = None, patience: float = PATIENCE) -> Iterator[Path]:
    """The directory; removed on leaving. `repo`: what `hub.ask` said, if it is known already; `patience`: seconds.

    It lies at .../models--OWNER--NAME/snapshots/COMMIT, so that name and revision are recognised. Blocks; raises
    `HubError`, also for a repository whose headers are too many or too large.
    """
    repo = repo or hub.ask(id)
    files = [file for file in repo.files if file.name.endswith(".safetensors") or file.name in _SMALL]
    shards = [file for file in files if file.name.endswith(".safetensors")]
    if len(shards) > MAX_SHARDS:
        raise HubError(f"{id} has {len(shards)} weight files; plans are made for at most {MAX_SHARDS}.")
    with tempfile.TemporaryDirectory(prefix="edge0-plan-", ignore_cleanup_errors=True) as top:
        folder = Path(top) / f"models--{id.folder}" / "snapshots" / repo.commit
        (folder / "adapters").mkdir(parents=True)
        token = hub.token()
        jobs = [partial(_fetch, folder, repo.url(file.name), token, file) for file in files]
        total = 0
        try:
            for count in each_in_daemons(jobs, _PARALLEL, patience, "skeleton"):
                total += count
                if total > MAX_TOTAL:
                    raise HubError(f"The headers of {id} are larger than those of any checkpoint known.")
        except TimeoutError:
            raise HubError(f"The headers of {id} did not arrive within {patience:.0f} s.", "Try again.") from None
        yield folder


def _fetch(folder: Path, url: str, token: str, file: RemoteFile) -> int:
    """Write one file of the skeleton; returns how many bytes were fetched."""
    if file.name in _SMALL:
        if file.bytes > _MAX_SMALL:
            raise HubError(f"{file.name} has {file.bytes:,} bytes, more than such a file may have.")
        data = _range(url, token, file, 0, file.bytes)
        (folder / file.name).write_bytes(data)
        return len(data)
    data = _range(url, token, file, 0, min(_FIRST, file.bytes))
    length = 8 + int.from_bytes(data[:8], "little")
    if length > 8 + MAX_HEADER_BYTES or length > file.bytes:
        raise HubError(f"{file.name} is no safetensors file: its header would have {length:,} bytes.")
    if length > len(data):
        data += _range(url, token, file, len(data), length)
    with (folder / file.name).open("wb") as out:
        out.write(data[:length])
        os.ftruncate(out.fileno(), file.bytes)
    return len(data)


def _range(url: str, token: str, file: RemoteFile, begin: int, end: int) -> bytes:
    """The bytes from `begin` to before `end`. A server that sends the whole is read no further than needed."""
    if begin == end:
        return b""
    headers = {"Range": f"bytes={begin}-{end - 1}"}
    try:
        with contextlib.closing(web.get(url, token=token, headers=headers, timeout=_SILENCE)) as reply:
            skip = _place(reply, file, begin, end)
            data = memoryview(bytearray(skip + end - begin))
            count = 0
            while count < len(data) and (more := reply.read_into(data[count:])):
                count += more
    except web.TransportError as error:
        raise HubError(
            f"{file.name} cannot be read from the hub: {error}.", "Check the network, or HF_ENDPOINT."
        ) from None
    if count < len(data):
        raise HubError(f"{file.name}: the hub ended the connection early.", "Try again.")
    return bytes(data[skip:])


def _place(reply: web.Reply, file: RemoteFile, begin: int, end: int) -> int:
    """How many bytes of the answer lie before `begin`."""
    if reply.status == 200 and begin == 0:
        return 0
    if reply.status == 200 and begin <= MAX_HEADER_BYTES:
        return begin
    if reply.status != 206:
        raise statuses.refused(reply.status, file.name, reply.host, reply.headers.get("X-Error-Code", ""))
    try:
        whole_size(reply.headers.get("Content-Range", ""), begin, end)
    except ValueError as error:
        raise HubError(f"{reply.host} does not answer as HTTP asks for: {error}.", "Check HF_ENDPOINT.") from None
    return 0
