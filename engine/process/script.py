"""What a `ScriptedSession` plays: read from a JSON or TOML file."""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.errors import UsageError
from engine.protocol import FinishReason, ModelInfo

DEFAULT_INFO = ModelInfo(
    name="scripted",
    tier="nano",
    path="scripted",
    family="scripted",
    adapters_available=["none"],
    layers=4,
    experts_per_layer=8,
    experts_per_token=2,
    context_limit=4096,
    supports_thinking=True,
)


@dataclass(frozen=True)
class ScriptedReply:
    """One reply. Times in seconds; the `*_after` fields count tokens and switch a fault on.

    `match` restricts the reply to prompts that contain it. `too_long` refuses it as longer than the context, unless
    the request allows to drop the oldest turns or the context was loaded larger. A hang ignores stop; a freeze also
    ends the heartbeats; `prints` is written to standard output, as a careless library would.
    """

    text: str = "A scripted answer."
    thinking: str = ""
    match: str = ""
    pace: float = 0.0
    prompt_tokens: int = 12
    reused_tokens: int = 0
    prefill_chunk: int = 12
    prefill_pace: float = 0.0
    finish_reason: FinishReason = "stop"
    prints: str = ""
    prints_after: int = 1
    fail_after: int | None = None
    fail_kind: str = "engine"
    fail_message: str = "A scripted failure."
    fail_hint: str = ""
    raise_after: int | None = None
    crash_after: int | None = None
    exit_code: int = 70
    hang_after: int | None = None
    freeze_after: int | None = None
    too_long: bool = False


@dataclass(frozen=True)
class Script:
    """A model that is not there. Replies without `match` are played in turn, over and over."""

    replies: tuple[ScriptedReply, ...] = (ScriptedReply(),)
    info: ModelInfo = DEFAULT_INFO
    load_seconds: float = 0.0
    load_steps: int = 4
    load_fail_kind: str = ""
    load_fail_message: str = "A scripted refusal."
    load_fail_hint: str = ""


def read_script(path: Path) -> Script:
    """The script in `path`. Raises `UsageError` naming the file and what does not fit."""
    try:
        text = path.read_text(encoding="utf-8")
        body: dict[str, Any] = tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)
        return _script(body)
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise UsageError(f"{path} is not a script: {error}") from None


def _script(body: dict[str, Any]) -> Script:
    replies = tuple(ScriptedReply(**entry) for entry in body.pop("replies", [{}]))
    if not replies:
        raise ValueError("replies must not be empty")
    info = {**vars(DEFAULT_INFO), **body.pop("info", {})}
    return Script(replies=replies, info=ModelInfo(**info), **body)
