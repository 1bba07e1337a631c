"""The asyncio side of downloads: one process for each, killed or crashed it costs nothing.

    downloads = Downloads(paths)                 # asks nothing, starts nothing
    downloads.on_change = handle                 # handle(Download): every change, on the event loop, at most 10 a second
    downloads.list()                             # those of this session and the interrupted ones found on disk
    download = await downloads.start("8b")       # or "35b", "owner/name[@revision]"; resumes what is already there
    await downloads.pause(download.key)          # everything that has arrived is kept
    await downloads.cancel(download.key, keep=False)   # → bytes freed; keep=True is a pause that is no longer listed
    async for download in downloads.watch(key): ...    # snapshots until it is done, failed, paused or cancelled
    await downloads.close()                      # pauses all
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path

from edge0_tui.manager.events import Download
from edge0_tui.paths import Paths


class Downloads:
    """All downloads of one application. Belongs to one event loop."""

    def __init__(self, paths: Paths, *, command: Sequence[str] | None = None) -> None:
        self.on_change: Callable[[Download], None] | None = None
        self._paths = paths
        self._command = command

    def list(self) -> list[Download]:
        """The downloads of this session, newest first, then interrupted ones found in the models folder."""
        raise NotImplementedError

    async def start(self, what: str, into: Path | None = None) -> Download:
        """Start or resume. `into`: the folder that gets the model's folder, the models folder if None.

        Raises `UsageError` for what is neither a tier nor a repository id; all else arrives as a failed `Download`.
        """
        raise NotImplementedError

    async def pause(self, key: str) -> None:
        """Stop it and keep all. Without effect if it does not run."""
        raise NotImplementedError

    async def cancel(self, key: str, *, keep: bool) -> int:
        """Stop it; without `keep` remove what had arrived. Returns the bytes freed."""
        raise NotImplementedError

    async def watch(self, key: str) -> AsyncIterator[Download]:
        """Snapshots of one download, the last one when it no longer runs."""
        raise NotImplementedError
        yield

    async def close(self) -> None:
        """Pause everything that runs."""
        raise NotImplementedError
