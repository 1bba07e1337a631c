"""What can go wrong between the hub and the disk, with the exit codes of the command line."""

from __future__ import annotations

from engine.errors import EngineError


class HubError(EngineError):
    """The hub or the network did not give what was asked for."""

    kind = "hub"
    exit_code = 6


class SpaceError(EngineError):
    """The volume cannot hold it."""

    kind = "space"
    exit_code = 3


class InUseError(EngineError):
    """Another process writes this model, or has it loaded."""

    kind = "in use"
    exit_code = 2


class StoppedError(EngineError):
    """Stopped on request; what has arrived is kept."""

    kind = "stopped"
    exit_code = 130


KINDS: dict[str, type[EngineError]] = {cls.kind: cls for cls in (HubError, SpaceError, InUseError, StoppedError)}
