"""The asyncio side of the process boundary. Imports neither MLX nor a user interface.

    client = EngineClient(log_path=path)        # command: default_command(); EDGE0_SCRIPT=FILE plays a script
    client.on_notice = handle                   # Heartbeat | Died | Unresponsive | Responsive | Failed(id="")
    ready = await client.start()                # Ready; raises EngineDied
    async for event in client.load(Load(new_id(), "nano")):           # Loading …, then Loaded or Failed
        ...
    async for event in client.generate(Generate(new_id(), messages)):  # Prefilling | Delta …, Finished or Failed
        ...
    await client.count(Count(new_id(), texts))  # Counted or Failed; waits for a reply under way
    client.stop(request_id)                     # not awaited; the iterator still ends with Finished("cancelled")
    client.reset()                              # forget conversation state
    await client.restart()                      # after death or a hang: the ladder if needed, then start
    async for event in client.reload(): ...     # the last successful load again, under a new id
    how = await client.close()                  # "shutdown" | "terminate" | "kill" | "" (was not running)

Rules
- `load` and `generate` raise `EngineDied` (status, log_tail) if the process ends; refusals of the engine are
  `Failed` events, which keep the partial text. `engine.errors.KINDS[failed.kind]` is the class with the exit code.
- Leaving an iterator early (break, cancelled task, aclose) stops the request in the worker.
- Several requests may be open; the worker answers them in order. Stop reaches waiting ones too.
- A slow consumer costs nothing: waiting deltas are merged, and `Finished` holds the whole text anyway.
- `unresponsive` is set, and noticed, when nothing came for 10 s or a stop was ignored for 10 s.
- `on_notice` is called on the event loop and must not block. A death is noticed even if no request is open.
- `engine.interface.Engine` is the type to hold; `process.replay.ReplayClient` implements it without a process.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from asyncio.subprocess import Process
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import replace
from pathlib import Path

from engine.errors import UsageError
from engine.interface import Died, EngineDied, Notice, Unresponsive, new_id
from engine.process.enginelog import EngineLog
from engine.process.inflow import Inflow
from engine.process.launch import GRACE, default_command, end, spawn, status_text
from engine.process.recording import Recorder
from engine.process.vigil import Vigil
from engine.protocol import (
    Count,
    Counted,
    Event,
    Failed,
    Finished,
    Generate,
    Heartbeat,
    Load,
    Loaded,
    Ready,
    Request,
    Reset,
    Stop,
)
from engine.wire import ProtocolError, decode, encode

START_TIMEOUT = 30.0
"""Seconds a new process gets to say that it is ready."""


class EngineClient:
    """One worker process and the requests it has been given. Belongs to one event loop."""

    def __init__(
        self,
        command: Sequence[str] | None = None,
        *,
        log_path: Path | None = None,
        record: Path | None = None,
        patience: float = 10.0,
        grace: float = GRACE,
    ) -> None:
        """`record` is a file for `process.replay`. Seconds: `patience` until it counts as unresponsive, `grace` for
        each step of the ladder in `close`."""
        self.on_notice: Callable[[Notice], None] | None = None
        self.garbage_lines = 0
        self._command = list(command) if command is not None else default_command()
        self._log_path = log_path
        self._recorder = Recorder(record) if record is not None else None
        self._vigil = Vigil(patience)
        self._grace = grace
        self._process: Process | None = None
        self._log: EngineLog | None = None
        self._ready: asyncio.Future[Ready] | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._inflows: dict[str, Inflow] = {}
        self._loads: dict[str, Load] = {}
        self._last_load: Load | None = None
        self._death: EngineDied | None = None
        self._closing = False
        self._lifecycle = asyncio.Lock()

    @property
    def alive(self) -> bool:
        """Whether the process runs (it may still be starting)."""
        return self._process is not None and self._process.returncode is None

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process is not None else None

    @property
    def ready(self) -> Ready | None:
        """What the process said of itself, once it has."""
        return self._ready.result() if self._ready and self._ready.done() and not self._ready.exception() else None

    @property
    def unresponsive(self) -> Unresponsive | None:
        return self._vigil.state

    @property
    def last_load(self) -> Load | None:
        """The last load that succeeded."""
        return self._last_load

    async def start(self) -> Ready:
        """Start the process unless it runs. Raises `EngineDied` if it ends, or is not ready within 30 s."""
        async with self._lifecycle:
            if not self.alive:
                await self._spawn()
        assert self._ready is not None
        try:
            return await asyncio.wait_for(asyncio.shield(self._ready), START_TIMEOUT)
        except TimeoutError:
            await self.close()
            raise EngineDied(f"not ready within {START_TIMEOUT:.0f} s") from None

    async def load(self, request: Load) -> AsyncGenerator[Event, None]:
        """`Loading` events, then one `Loaded` or `Failed`."""
        self._loads[request.id] = request
        async with contextlib.aclosing(self._ask(request)) as events:
            async for event in events:
                yield event

    async def reload(self) -> AsyncGenerator[Event, None]:
        """The last successful load again. Raises `UsageError` if there was none."""
        if self._last_load is None:
            raise UsageError("Nothing has been loaded yet.")
        async with contextlib.aclosing(self.load(replace(self._last_load, id=new_id()))) as events:
            async for event in events:
                yield event

    async def generate(self, request: Generate) -> AsyncGenerator[Event, None]:
        """`Prefilling` and `Delta` events, then one `Finished` or `Failed`."""
        async with contextlib.aclosing(self._ask(request)) as events:
            async for event in events:
                yield event

    async def count(self, request: Count) -> Counted | Failed:
        """Tokens of texts, after the requests that wait. Raises `EngineDied`."""
        async with contextlib.aclosing(self._ask(request)) as events:
            async for event in events:
                if isinstance(event, Counted | Failed):
                    return event
        raise EngineDied("closed")

    def stop(self, request_id: str) -> None:
        """Stop a load or reply; without effect if it is over or the process is gone."""
        if self.alive and self._vigil.stopping(request_id):
            self._send(Stop(request_id))

    def reset(self) -> None:
        """Forget every conversation state, after the requests that wait. Raises `EngineDied`."""
        self._send(Reset())

    async def restart(self) -> Ready:
        """End the process if it still runs, and start another. Nothing is loaded in it."""
        await self.close()
        return await self.start()

    async def close(self) -> str:
        """End the process within two graces. Says which step was needed, empty if it was not running."""
        async with self._lifecycle:
            return await self._end()

    # --- inside ---

    async def _spawn(self) -> None:
        await self._end()
        self._closing, self._death = False, None
        self._log = EngineLog(self._log_path)
        self._ready = asyncio.get_running_loop().create_future()
        self._ready.add_done_callback(lambda future: future.exception())
        self._process = await spawn(self._command, self._log.file)
        self._vigil.begin()
        self._tasks = [
            asyncio.create_task(self._read(self._process), name="engine-reader"),
            asyncio.create_task(self._watch(), name="engine-watch"),
        ]

    async def _end(self) -> str:
        self._closing = True
        step = ""
        if self._process is not None and self._process.returncode is None:
            step = await end(self._process, self._grace)
        for task in self._tasks[:1]:
            await task
        for task in self._tasks[1:]:
            task.cancel()
        self._tasks = []
        if self._log is not None:
            self._log.close()
            self._log = None
        return step

    async def _ask(self, request: Load | Generate | Count) -> AsyncGenerator[Event, None]:
        inflow = Inflow()
        self._send(request)
        self._vigil.asked(request.id)
        self._inflows[request.id] = inflow
        try:
            while True:
                for event in await inflow.take():
                    yield event
                    if isinstance(event, Loaded | Finished | Counted | Failed):
                        return
        finally:
            del self._inflows[request.id]
            self.stop(request.id)

    def _send(self, request: Request) -> None:
        if self._process is None or self._process.stdin is None or not self.alive:
            raise self._death or EngineDied("not running")
        if self._recorder is not None:
            self._recorder.sent(request)
        self._process.stdin.write(encode(request))

    async def _read(self, process: Process) -> None:
        assert process.stdout is not None
        try:
            await self._listen(process.stdout)
            # A process that closed its stream and stays would never be noticed otherwise.
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(process.wait(), GRACE)
        finally:
            if process.returncode is None:
                process.kill()
            self._gone(await process.wait())

    async def _listen(self, stream: asyncio.StreamReader) -> None:
        while True:
            try:
                line = await stream.readline()
            except ValueError:  # longer than wire.MAX_LINE
                self._garbage(b"(a line too long)")
                continue
            if not line:
                return
            self._vigil.heard()
            try:
                event = decode(line)
            except ProtocolError:
                self._garbage(line)
                continue
            if not isinstance(event, Request):
                self._dispatch(event)

    def _dispatch(self, event: Event) -> None:
        if self._recorder is not None:
            self._recorder.received(event)
        if isinstance(event, Ready):
            if self._ready is not None and not self._ready.done():
                self._ready.set_result(event)
            return
        if isinstance(event, Heartbeat) or (isinstance(event, Failed) and not event.id):
            self._notice(event)
            return
        if isinstance(event, Loaded | Finished | Counted | Failed):
            self._vigil.answered(event.id)
            asked = self._loads.pop(event.id, None)
            if isinstance(event, Loaded) and asked is not None:
                self._last_load = asked
        if event.id in self._inflows:
            self._inflows[event.id].put(event)

    def _garbage(self, line: bytes) -> None:
        self.garbage_lines += 1
        if self._log is not None:
            self._log.note(b"not a line of the protocol: " + line[:500])

    def _gone(self, returncode: int) -> None:
        tail = self._log.tail() if self._log is not None else ""
        self._death = EngineDied("closed" if self._closing else status_text(returncode), tail)
        self._vigil.end()
        self._loads.clear()
        for inflow in self._inflows.values():
            inflow.fail(self._death)
        if self._ready is not None and not self._ready.done():
            self._ready.set_exception(self._death)
        if not self._closing:
            self._notice(Died(self._death.status, tail))

    async def _watch(self) -> None:
        while self.alive:
            for notice in self._vigil.look(time.monotonic()):
                self._notice(notice)
            await asyncio.sleep(min(1.0, self._vigil.patience / 4))

    def _notice(self, notice: Notice) -> None:
        # Not called from here: what a listener raises must not end the reading.
        if self.on_notice is not None:
            asyncio.get_running_loop().call_soon(self.on_notice, notice)
