"""One application for one browser tab: a process that speaks textual-serve's protocol."""

from __future__ import annotations

import asyncio
import contextlib
import shlex
from collections.abc import Sequence
from typing import Any

from textual_serve.app_service import AppService

from edge0_tui.in_browser import VARIABLE


class AppProcess(AppService):  # type: ignore[misc]  # it has no types
    """textual-serve's, but without a shell between, and told to leave as by a person, so that all is saved."""

    _task: asyncio.Task[None] | None
    _process: asyncio.subprocess.Process | None

    def __init__(self, arguments: Sequence[str], **rest: Any) -> None:
        super().__init__(shlex.join(arguments), **rest)
        self._arguments = arguments

    async def _open_app_process(self, width: int = 80, height: int = 24) -> asyncio.subprocess.Process:
        pipe = asyncio.subprocess.PIPE
        environment = {**self._build_environment(width, height), VARIABLE: "1"}
        self._process = await asyncio.create_subprocess_exec(
            *self._arguments, stdin=pipe, stdout=pipe, stderr=pipe, env=environment
        )
        self._stdin = self._process.stdin
        return self._process

    async def stop(self) -> None:
        task, self._task = self._task, None
        if task is None or self._process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            self._process.terminate()
        await task
        await self._process.wait()
