"""What goes on in the background about models: downloads and verifications. Outlives the screen; no Textual."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from edge0_tui.notices import Notice
from edge0_tui.paths import Paths
from engine.errors import EngineError

if TYPE_CHECKING:
    from edge0_tui.manager.downloads import Downloads
    from edge0_tui.manager.events import Download, Progress
    from edge0_tui.manager.verdict import Verdict

Tell = Callable[[Notice], None]
_TOPIC = "download"


@dataclass
class Check:
    """One verification; `verdict` or `error` is there once it is over."""

    stop: threading.Event
    progress: Progress | None = None
    verdict: Verdict | None = None
    error: str = ""

    @property
    def running(self) -> bool:
        return self.verdict is None and not self.error


class ModelJobs:
    """`changed` is called on the event loop whenever something may look different; `tell` when something ended."""

    def __init__(
        self,
        paths: Paths,
        spawn: Callable[[Coroutine[Any, Any, None]], object],
        changed: Callable[[], None],
        tell: Tell,
    ) -> None:
        self.checks: dict[str, Check] = {}
        self._paths, self._spawn, self._changed, self._tell = paths, spawn, changed, tell
        self._downloads: Downloads | None = None
        self._known: dict[str, Download] = {}

    # --- downloads ---

    @property
    def downloads(self) -> Mapping[str, Download]:
        """Those of this session by directory."""
        return self._known

    @property
    def running(self) -> list[Download]:
        return [item for item in self._known.values() if item.state == "running"]

    async def fetch(self, what: str, into: str = "") -> Notice | None:
        """Start or go on with a download, in the models folder unless `into`; answers with what hinders it."""
        try:
            item = await self._client().start(what, Path(into) if into else None)
        except EngineError as error:
            return Notice(error.message, error.hint, "error")
        self._known[item.key] = item
        self._changed()
        return None

    async def pause(self, key: str) -> None:
        if self._downloads is not None:
            await self._downloads.pause(key)

    async def discard(self, key: str, *, keep: bool) -> Notice | None:
        """Stop a download; unless `keep`, delete what had arrived. Answers with what came of it."""
        client = self._client()
        try:
            freed = await client.cancel(key, keep=keep)
        except EngineError as error:
            return Notice(error.message, error.hint, "error")
        item = self._known.get(key)
        if item is not None and not keep:
            del self._known[key]
        self._changed()
        from edge0_tui import units

        return None if keep else Notice(f"{units.size(freed)} freed.")

    def _client(self) -> Downloads:
        if self._downloads is None:
            from edge0_tui.manager.downloads import Downloads

            self._downloads = Downloads(self._paths)
            self._downloads.on_change = self._heard
        return self._downloads

    def _heard(self, item: Download) -> None:
        before = self._known.get(item.key)
        if item.state == "cancelled":
            return
        self._known[item.key] = item
        if before is None or before.state != item.state:
            name = Path(item.key).name.replace("--", "/")
            if item.state == "done":
                self._tell(Notice(f"{name} is installed and verified.", "{key:models} loads it.", topic=_TOPIC))
            elif item.state == "failed":
                self._tell(Notice(f"{name}: {item.error}", item.hint, "error", _TOPIC))
        self._changed()

    # --- verification ---

    def verify(self, path: Path) -> None:
        """Begin to hash every file, unless that is being done already."""
        present = self.checks.get(str(path))
        if present is None or not present.running:
            self.checks[str(path)] = check = Check(threading.Event())
            self._spawn(self._verify(path, check))
            self._changed()

    def stop_check(self, path: Path) -> bool:
        """Stop a verification; true if there was one."""
        check = self.checks.get(str(path))
        if check is None or not check.running:
            return False
        check.stop.set()
        return True

    async def _verify(self, path: Path, check: Check) -> None:
        from edge0_tui.manager.verify import verify

        loop = asyncio.get_running_loop()

        def heard(progress: Progress) -> None:
            check.progress = progress
            loop.call_soon_threadsafe(self._changed)

        try:
            check.verdict = await asyncio.to_thread(verify, path, self._paths, heard, check.stop)
        except EngineError as error:
            check.error = str(error)
        self._changed()

    # --- the end ---

    async def close(self) -> None:
        """Pause every download and stop every verification."""
        for check in self.checks.values():
            check.stop.set()
        if self._downloads is not None:
            await self._downloads.close()
