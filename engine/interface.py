"""What a user interface holds to talk to an engine, whether a process, a script or a recording answers."""

from __future__ import annotations

import uuid
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from typing import Literal, Protocol

from engine.errors import EngineError
from engine.protocol import Count, Counted, Event, Failed, Generate, Heartbeat, Load, Ready


class EngineDied(EngineError):  # noqa: N818 - named for what happened, like the events
    """The engine's process has ended while it was needed.

    `status` is "exit code 70", "signal SIGKILL" or "closed" (on purpose); `log_tail` holds the last lines it
    wrote since its start.
    """

    def __init__(self, status: str, log_tail: str = "") -> None:
        if status == "closed":
            super().__init__("The engine was closed before it had answered.")
        else:
            super().__init__(f"The engine stopped unexpectedly ({status}).", "It can be restarted.")
        self.status = status
        self.log_tail = log_tail


@dataclass(frozen=True)
class Died:
    """The process ended although nobody asked it to."""

    status: str
    log_tail: str


@dataclass(frozen=True)
class Unresponsive:
    """No line for `seconds` ("silent"), or a stop that was not obeyed for so long ("stop")."""

    reason: Literal["silent", "stop"]
    seconds: float


@dataclass(frozen=True)
class Responsive:
    """An unresponsive engine is back."""


Notice = Heartbeat | Died | Unresponsive | Responsive | Failed
"""News that belong to no request. A `Failed` here has an empty id."""


class Engine(Protocol):
    """Implemented by `engine.client.EngineClient` and `engine.process.replay.ReplayClient`; see the former."""

    on_notice: Callable[[Notice], None] | None

    @property
    def alive(self) -> bool: ...

    @property
    def ready(self) -> Ready | None: ...

    @property
    def unresponsive(self) -> Unresponsive | None: ...

    @property
    def last_load(self) -> Load | None: ...

    async def start(self) -> Ready: ...

    def load(self, request: Load) -> AsyncGenerator[Event, None]: ...

    def reload(self) -> AsyncGenerator[Event, None]: ...

    def generate(self, request: Generate) -> AsyncGenerator[Event, None]: ...

    async def count(self, request: Count) -> Counted | Failed: ...

    def stop(self, request_id: str) -> None: ...

    def reset(self) -> None: ...

    async def restart(self) -> Ready: ...

    async def close(self) -> str: ...


def new_id() -> str:
    """An id for a request, unique among all clients."""
    return uuid.uuid4().hex[:12]
