"""`edge0-tui run`: arguments to a request."""

from __future__ import annotations

import argparse
import json
import sys
from functools import partial
from pathlib import Path
from typing import Any

from edge0_tui import paths
from edge0_tui.console import Console
from edge0_tui.installed import BUILT_IN, resolve
from engine.errors import CheckpointError, UsageError
from engine.protocol import Load, Message

_ROLES = ("system", "user", "assistant")
_SAMPLING = ("temperature", "top_k", "top_p", "min_p", "repetition_penalty", "seed", "max_tokens")


def run(options: argparse.Namespace) -> int:
    """Raises `UsageError` and `CheckpointError` before anything is started."""
    import asyncio

    from edge0_tui.headless import RunRequest
    from edge0_tui.headless import run as run_headless
    from edge0_tui.learning import note_reply
    from engine.client import EngineClient
    from engine.interface import new_id

    places = paths.find_paths()
    request = RunRequest(
        load=Load(
            new_id(),
            resolve(options.model or BUILT_IN, places),
            options.adapter or "",
            options.routing or "",
            options.memory,
            options.context,
            str(places.adapters),
        ),
        messages=_messages(options),
        sampling=_sampling(options),
        thinking=options.thinking,
        raw=options.raw,
        measure_agreement=options.measure_agreement,
        as_json=options.json,
    )
    engine = EngineClient(log_path=places.engine_log)
    return asyncio.run(run_headless(request, engine, Console(), partial(note_reply, places)))


def _sampling(options: argparse.Namespace) -> dict[str, Any]:
    chosen = {name: getattr(options, name) for name in _SAMPLING if getattr(options, name) is not None}
    if options.greedy:
        if chosen.get("temperature"):
            raise UsageError(f"--greedy and --temperature {options.temperature:g} contradict each other.")
        chosen["temperature"] = 0.0
    return chosen


def _messages(options: argparse.Namespace) -> list[Message]:
    if options.raw:
        for name in ("system", "messages", "thinking"):
            if getattr(options, name):
                raise UsageError(f"--{name} has no effect with --raw, which uses no template.")
    turns = _read_turns(Path(options.messages)) if options.messages else []
    if options.system is not None:
        if any(turn.role == "system" for turn in turns):
            raise UsageError(f"--system: {options.messages} has a system message already.")
        turns.insert(0, Message("system", _text("--system", options.system)))
    if options.standard_input and options.prompt is not None:
        raise UsageError("-p and - contradict each other.")
    if options.standard_input:
        options.prompt = "-"
    if options.prompt is not None:
        prompt = _standard_input() if options.prompt == "-" else _text("-p", options.prompt)
        if not (prompt if options.raw else prompt.strip()):
            raise UsageError("-p: the prompt is empty.")
        turns.append(Message("user", prompt))
    if not turns or turns[-1].role != "user":
        raise UsageError("Nothing to answer: give -p TEXT, -p - or --messages ending in a user turn.")
    return turns


def _standard_input() -> str:
    try:
        return sys.stdin.buffer.read().decode()
    except UnicodeDecodeError as error:
        raise UsageError(f"-p -: standard input is not UTF-8 ({error.reason} at byte {error.start}).") from None


def _text(option: str, value: str) -> str:
    try:
        value.encode()
    except UnicodeEncodeError:
        raise UsageError(f"{option}: not valid UTF-8.") from None
    return value


def _read_turns(path: Path) -> list[Message]:
    try:
        body: Any = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CheckpointError(f"--messages {path}: {error}") from None
    if not isinstance(body, list):
        raise CheckpointError(f"--messages {path}: a list of turns was expected.")
    return [_turn(path, number, entry) for number, entry in enumerate(body, 1)]


def _turn(path: Path, number: int, entry: Any) -> Message:
    known = isinstance(entry, dict) and entry.keys() <= {"role", "content", "thinking"}
    if not known or entry.get("role") not in _ROLES or not isinstance(entry.get("content"), str):
        raise CheckpointError(f"--messages {path}: turn {number} is not {{role, content}} with role {_ROLES}.")
    return Message(entry["role"], _text("--messages", entry["content"]), str(entry.get("thinking", "")))
