"""The errors a user can meet, each with the exit code the command line documents."""

from __future__ import annotations

from typing import ClassVar


class EngineError(Exception):
    """The engine could not do what was asked. `hint` says what the user can do about it."""

    kind: ClassVar[str] = "engine"
    exit_code: ClassVar[int] = 5

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()


class UsageError(EngineError):
    """An option or value that cannot take effect."""

    kind = "usage"
    exit_code = 2


class ContextError(UsageError):
    """A prompt that the context does not hold."""

    kind = "context"


class PlanError(EngineError):
    """Not possible on this machine, or not within the budget."""

    kind = "plan"
    exit_code = 3


class CheckpointError(EngineError):
    """A file of a checkpoint or adapter is missing, damaged or of another kind."""

    kind = "files"
    exit_code = 4


class TemplateError(CheckpointError):
    """The chat template could not be loaded or refused the conversation."""

    kind = "template"


KINDS: dict[str, type[EngineError]] = {
    cls.kind: cls for cls in (EngineError, UsageError, ContextError, PlanError, CheckpointError, TemplateError)
}
