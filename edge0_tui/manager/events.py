"""What a download and a verification report while they run. Plain data; sizes in bytes, times in seconds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Phase = Literal["asking", "downloading", "verifying", "done"]
State = Literal["running", "paused", "failed", "done", "cancelled"]


@dataclass(frozen=True)
class Progress:
    """Where it stands. `done_bytes` of one phase never shrinks, except when a file has to be fetched anew.

    phase     asking (the hub is asked, space is checked), downloading, verifying (bytes already here are being
              hashed), done
    rate      bytes a second over the last seconds; None while unknown
    eta_s     seconds left at this rate; None while unknown
    stalled   why nothing arrives, in a sentence; empty while bytes flow
    note      something a person should know, as a file that had to be restarted; empty otherwise
    """

    phase: Phase
    done_bytes: int = 0
    total_bytes: int = 0
    rate: float | None = None
    eta_s: float | None = None
    stalled: str = ""
    files_done: int = 0
    files_total: int = 0
    note: str = ""

    @property
    def share(self) -> float:
        """Done bytes as a share of one."""
        return self.done_bytes / self.total_bytes if self.total_bytes else 0.0


@dataclass(frozen=True)
class Download:
    """One download as it is now. `key` is what `Downloads` takes: the name of its folder below the models folder.

    state "paused" includes one that was interrupted by a crash or a reboot; `progress` then counts what is on disk.
    `error` and `hint` are set when it failed.
    """

    key: str
    repo: str
    revision: str
    path: str
    state: State
    progress: Progress
    error: str = ""
    hint: str = ""
    kind: str = ""
