"""What only the engine's own process can tell: device, width of its numbers, what the accelerator may hold."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

from engine.errors import EngineError

TIMEOUT = 120


@dataclass(frozen=True)
class DeviceFacts:
    """`working_set` is None on a processor; `raw` is all the engine said."""

    device: str
    activation_bytes: int
    working_set: int | None
    raw: dict[str, Any]


def ask_engine() -> DeviceFacts:
    """Starts an engine process that describes itself and leaves. Raises EngineError when it cannot."""
    command = [sys.executable, "-P", "-m", "engine.worker", "--describe"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, check=True)
        found = json.loads(done.stdout)
    except subprocess.CalledProcessError as error:
        last = error.stderr.strip().splitlines() or [f"exit code {error.returncode}"]
        raise EngineError(f"The engine does not start: {last[-1]}") from None
    except (OSError, subprocess.TimeoutExpired, ValueError) as error:
        raise EngineError(f"The engine does not start: {error}") from error
    return device_facts(found)


def device_facts(found: dict[str, Any]) -> DeviceFacts:
    """From the object `engine.worker --describe` prints."""
    limit, width = found.get("working_set_limit"), found.get("activation_bytes")
    return DeviceFacts(
        device=str(found.get("device_name") or found.get("device", "")),
        activation_bytes=width if width in (2, 4) else usual_device().activation_bytes,
        working_set=limit if isinstance(limit, int) and limit > 0 else None,
        raw=found,
    )


def usual_device() -> DeviceFacts:
    """Without asking: what an engine on this kind of system computes with. The working set is unknown."""
    metal = sys.platform == "darwin"
    return DeviceFacts("metal" if metal else "cpu", 2 if metal else 4, None, {})
