"""What a download's process is told and what it says, as lines of JSON. Both ends are this program's own."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass, field
from typing import Any

from edge0_tui.manager.events import Progress
from edge0_tui.manager.tuning import Tuning

MAX_LINE = 1 << 20


@dataclass(frozen=True)
class Order:
    """The first line to the process. The next one, or the end of its input, stops it."""

    repo: str
    revision: str
    folder: str
    tuning: Tuning = field(default_factory=Tuning)


@dataclass(frozen=True)
class Finished:
    """Every file is there and verified."""

    bytes: int


@dataclass(frozen=True)
class Failed:
    """It is over; `kind` is that of the error's class, "stopped" when it was asked to stop."""

    kind: str
    message: str
    hint: str = ""


Message = Progress | Finished | Failed
_TYPES: dict[str, type[Any]] = {cls.__name__: cls for cls in (Progress, Finished, Failed)}


def encode(message: Message | Order) -> bytes:
    """One line."""
    body = {"type": type(message).__name__, **dataclasses.asdict(message)}
    return json.dumps(body, separators=(",", ":")).encode() + b"\n"


def decode(line: bytes) -> Message:
    """Raises `ValueError` for what is no message of this kind, as what a library prints."""
    body = json.loads(line)
    try:
        message: Message = _TYPES[body.pop("type")](**body)
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"not a message of a download: {error}") from None
    return message


def decode_order(line: bytes) -> Order:
    """Raises `ValueError`."""
    try:
        body = json.loads(line)
        body.pop("type", None)
        return Order(**{**body, "tuning": Tuning(**body.get("tuning", {}))})
    except (TypeError, AttributeError) as error:
        raise ValueError(f"not an order for a download: {error}") from None
