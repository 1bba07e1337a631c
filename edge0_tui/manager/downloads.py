"""The asyncio side of downloads: one process for each, killed or crashed it costs nothing.

downloads = Downloads(paths)                 # asks nothing, starts nothing
downloads.on_change = handle                 # handle(Download) on the event loop, at most 10 times a second
downloads.list()                             # those of this session and the interrupted ones found on disk
download = await downloads.start("8b")       # or "35b", "owner/name[@revision]"; resumes what is already there
await downloads.pause(download.key)          # everything that has arrived is kept
await downloads.cancel(download.key, keep=False)   # → bytes freed; keep=True: a pause that is not listed
async for download in downloads.watch(key): ...    # snapshots until it is done, failed, paused or cancelled
await downloads.close()                      # pauses all
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import replace
from pathlib import Path

from edge0_tui.manager.download_process import DownloadProcess, default_command
from edge0_tui.manager.elsewhere import remember
from edge0_tui.manager.events import Download, Progress
from edge0_tui.manager.messages import Failed, Message, Order
from edge0_tui.manager.present import present_bytes, unfinished
from edge0_tui.manager.remove import remove
from edge0_tui.manager.targets import target
from edge0_tui.manager.tuning import Tuning
from edge0_tui.paths import Paths
from engine.errors import UsageError
from engine.home import expanded


class Downloads:
    """All downloads of one application. Belongs to one event loop."""

    def __init__(self, paths: Paths, *, command: Sequence[str] | None = None, tuning: Tuning | None = None) -> None:
        self.on_change: Callable[[Download], None] | None = None
        self._paths = paths
        self._command = list(command) if command is not None else default_command()
        self._tuning = tuning or Tuning()
        self._downloads: dict[str, Download] = {}
        self._processes: dict[str, DownloadProcess] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._changed = asyncio.Event()

    def list(self) -> Sequence[Download]:
        """The downloads of this session, newest first, then interrupted ones found on the disk."""
        mine = [item for item in reversed(self._downloads.values()) if item.state != "cancelled"]
        found = [
            Download(
                str(folder), record.repo, record.revision, str(folder), "paused",
                Progress("downloading", present_bytes(record, folder), record.bytes, files_total=len(record.files)),
            )
            for folder, record in unfinished(self._paths)
            if str(folder) not in self._downloads
        ]  # fmt: skip
        return mine + found

    async def start(self, what: str, into: Path | None = None) -> Download:
        """Start or resume. `into`: the folder that gets the model's folder, the models folder if None.

        Raises `UsageError` for what is neither a tier nor a repository id; all else arrives as a failed `Download`.
        One that runs already is returned as it is.
        """
        wanted = target(what)
        folder = expanded(into or self._paths.models).absolute() / wanted.folder
        key = str(folder)
        if key in self._tasks:
            return self._downloads[key]
        with contextlib.suppress(OSError):  # it is then not listed later, and goes on as long as one knows where
            remember(folder, self._paths)
        self._downloads.pop(key, None)
        id = wanted.id
        self._downloads[key] = Download(key, id.repo, id.revision, key, "running", Progress("asking"))
        order = Order(id.repo, id.revision, key, self._tuning)
        process = DownloadProcess(self._command, order, lambda message: self._heard(key, message))
        self._processes[key] = process
        self._tasks[key] = asyncio.create_task(self._run(key, process), name=f"download {wanted.folder}")
        self._tell(key)
        return self._downloads[key]

    async def resume(self, key: str) -> Download:
        """Start an interrupted or paused one again, as it is listed."""
        item = next(item for item in self.list() if item.key == key)
        what = f"{item.repo}@{item.revision}" if item.revision else item.repo
        return await self.start(what, Path(key).parent)

    async def pause(self, key: str) -> None:
        """Stop it and keep all. Without effect if it does not run."""
        task = self._tasks.get(key)
        if task is not None:
            await self._processes[key].stop()
            await asyncio.wait([task])

    async def cancel(self, key: str, *, keep: bool) -> int:
        """Stop it; without `keep` remove what had arrived. Returns the bytes freed. Raises `EngineError`.

        One that has come to its end meanwhile is installed: that is not what somebody wanted to throw away.
        """
        await self.pause(key)
        freed = 0
        if not keep and key in self._downloads and self._downloads[key].state == "done":
            name = self._downloads[key].repo
            raise UsageError(
                f"{name} had arrived in whole, is installed, and stays.", "Delete it if you do not want it."
            )
        if not keep:
            freed = (await asyncio.to_thread(remove, Path(key), self._paths)).bytes
        if key in self._downloads:
            self._downloads[key] = replace(self._downloads[key], state="cancelled")
            self._tell(key)
        return freed

    async def watch(self, key: str) -> AsyncGenerator[Download, None]:
        """Snapshots of one download, the last one when it no longer runs."""
        seen: Download | None = None
        while seen is None or seen.state == "running":
            changed = self._changed
            if self._downloads[key] is seen:
                await changed.wait()
                continue
            seen = self._downloads[key]
            yield seen

    async def close(self) -> None:
        """Pause everything that runs."""
        await asyncio.gather(*(self.pause(key) for key in list(self._tasks)))

    # --- inside ---

    async def _run(self, key: str, process: DownloadProcess) -> None:
        end = await process.run()
        now = self._downloads[key]
        if isinstance(end, Failed):
            failed = replace(now, state="failed", error=end.message, hint=end.hint, kind=end.kind)
            self._downloads[key] = replace(now, state="paused") if end.kind == "stopped" else failed
        else:
            done = replace(now.progress, phase="done", done_bytes=end.bytes, total_bytes=end.bytes, stalled="")
            self._downloads[key] = replace(now, state="done", progress=done)
        del self._tasks[key], self._processes[key]
        self._tell(key)

    def _heard(self, key: str, message: Message) -> None:
        if isinstance(message, Progress):
            self._downloads[key] = replace(self._downloads[key], progress=message)
            self._tell(key)

    def _tell(self, key: str) -> None:
        if self.on_change is not None:
            asyncio.get_running_loop().call_soon(self.on_change, self._downloads[key])
        self._changed.set()
        self._changed = asyncio.Event()
