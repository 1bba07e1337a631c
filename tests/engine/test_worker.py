"""The worker's process with a scripted session: pace, stop, faults, and that it always leaves."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from engine.process.batching import INTERVAL
from engine.protocol import (
    Delta,
    Event,
    Failed,
    Finished,
    Generate,
    Heartbeat,
    Load,
    Loaded,
    Message,
    Prefilling,
    Ready,
    Request,
    Shutdown,
    Stop,
)
from engine.wire import decode, encode

PROMPT = 2.0
"""Seconds that are short beside the replies below, and long for a busy machine."""


class Worker:
    """A worker process, read line by line."""

    def __init__(self, folder: Path, **script: Any) -> None:
        path = folder / "script.json"
        path.write_text(json.dumps(script))
        self.log = folder / "log"
        command = [sys.executable, "-m", "engine.worker", "--scripted", str(path)]
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, start_new_session=True
            )

    def send(self, *requests: Request | bytes) -> None:
        assert self.process.stdin is not None
        for request in requests:
            self.process.stdin.write(request if isinstance(request, bytes) else encode(request))
        self.process.stdin.flush()

    def events(self) -> Iterator[Event]:
        """Everything but heartbeats. Fails the test on a line that is no event."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            event = decode(line)
            assert isinstance(event, Event)
            if not isinstance(event, Heartbeat):
                yield event

    def until(self, *kinds: type[Event]) -> list[Event]:
        seen: list[Event] = []
        for event in self.events():
            seen.append(event)
            if isinstance(event, kinds):
                return seen
        raise AssertionError(f"the stream ended after {seen}")

    def end(self) -> None:
        self.process.kill()
        with self.process:
            pass


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Worker]]:
    workers: list[Worker] = []

    def make(**script: Any) -> Worker:
        workers.append(Worker(tmp_path, **script))
        return workers[-1]

    yield make
    for worker in workers:
        worker.end()


def ask(text: str = "hi", id: str = "g") -> Generate:
    return Generate(id, [Message("user", text)])


def text_of(events: list[Event]) -> str:
    return "".join(piece.text for event in events if isinstance(event, Delta) for piece in event.pieces)


def test_a_reply_with_prints_in_the_middle(start: Callable[..., Worker]) -> None:
    worker = start(replies=[{"text": "one two three four", "prints": "printed by a library"}])
    worker.send(Load("l", "nano"), ask())
    events = worker.until(Finished)
    assert isinstance(events[0], Ready) and events[0].pid == worker.process.pid
    assert any(isinstance(event, Loaded) and event.id == "l" for event in events)
    finished = events[-1]
    assert isinstance(finished, Finished) and finished.finish_reason == "stop"
    assert text_of(events) == finished.text == "one two three four"
    assert worker.log.read_text().count("printed by a library") == 2


def test_thinking_and_answer_keep_their_order_when_merged(start: Callable[..., Worker]) -> None:
    worker = start(replies=[{"thinking": "let me see", "text": "a b c"}])
    worker.send(Load("l", "nano"), Generate("g", [Message("user", "?")], thinking=True))
    events = worker.until(Finished)
    finished = events[-1]
    assert isinstance(finished, Finished)
    pieces = [piece for event in events if isinstance(event, Delta) for piece in event.pieces]
    channels = [piece.channel for piece in pieces]
    assert channels == sorted(channels, reverse=True)
    assert "".join(piece.text for piece in pieces if piece.channel == "thinking") == finished.thinking


def test_few_lines_for_many_tokens(start: Callable[..., Worker]) -> None:
    worker = start(replies=[{"text": "word " * 200, "pace": 0.002}])
    worker.send(Load("l", "nano"), ask())
    started = time.monotonic()
    events = worker.until(Finished)
    deltas = [event for event in events if isinstance(event, Delta)]
    assert len(deltas) <= (time.monotonic() - started) / INTERVAL + 2
    assert text_of(events) == "word " * 200


def test_stop_takes_effect_within_a_step_and_the_worker_goes_on(start: Callable[..., Worker]) -> None:
    worker = start(replies=[{"match": "long", "text": "word " * 5000, "pace": 0.05}, {"text": "short"}])
    worker.send(Load("l", "nano"), ask("long"))
    worker.until(Delta)
    worker.send(Stop("g"))
    asked = time.monotonic()
    events = worker.until(Finished)
    assert time.monotonic() - asked < PROMPT
    finished = events[-1]
    assert isinstance(finished, Finished) and finished.finish_reason == "cancelled"
    assert finished.text != "word " * 5000 and finished.text.startswith("word")
    worker.send(Stop("g"), ask(id="next"))
    last = worker.until(Finished)[-1]
    assert isinstance(last, Finished) and (last.id, last.finish_reason, last.text) == ("next", "stop", "short")


def test_stop_inside_prefill_and_while_waiting(start: Callable[..., Worker]) -> None:
    worker = start(replies=[{"prompt_tokens": 1000, "prefill_chunk": 1, "prefill_pace": 0.05}])
    worker.send(Load("l", "nano"), ask(id="running"), ask(id="waiting"))
    worker.until(Prefilling)
    asked = time.monotonic()
    worker.send(Stop("waiting"), Stop("running"))
    first, second = worker.until(Finished)[-1], worker.until(Finished)[-1]
    assert time.monotonic() - asked < PROMPT
    for event, name in ((first, "running"), (second, "waiting")):
        assert isinstance(event, Finished)
        assert (event.id, event.finish_reason, event.text) == (name, "cancelled", "")


def test_stop_ends_a_load(start: Callable[..., Worker]) -> None:
    worker = start(load_seconds=30)
    worker.send(Load("l", "nano"))
    worker.until(Ready)
    worker.send(Stop("l"))
    asked = time.monotonic()
    failed = worker.until(Failed)[-1]
    assert isinstance(failed, Failed) and failed.id == "l" and "stopped" in failed.message
    assert time.monotonic() - asked < PROMPT


def test_refusals_and_accidents_are_events(start: Callable[..., Worker]) -> None:
    worker = start(
        replies=[
            {"match": "plan", "text": "a b c", "fail_after": 2, "fail_kind": "plan", "fail_hint": "Use less."},
            {"match": "bug", "text": "a b c", "raise_after": 1},
            {"text": "fine"},
        ]
    )
    worker.send(ask(id="early"), b"nonsense\n")
    early, nonsense = sorted((e for _ in "ab" for e in worker.until(Failed) if isinstance(e, Failed)), key=_by_id)[
        ::-1
    ]
    assert (early.id, early.kind) == ("early", "usage") and "loaded" in early.message
    assert (nonsense.id, nonsense.kind) == ("", "usage")
    worker.send(Load("l", "nano"), ask("plan", "p"), ask("bug", "b"), ask(id="f"))
    plan, bug = worker.until(Failed)[-1], worker.until(Failed)[-1]
    assert isinstance(plan, Failed) and isinstance(bug, Failed)
    assert (plan.id, plan.kind, plan.hint, plan.text) == ("p", "plan", "Use less.", "a b")
    assert (bug.id, bug.kind, bug.text) == ("b", "engine", "a") and "RuntimeError" in bug.message
    assert "Traceback" in worker.log.read_text()
    last = worker.until(Finished)[-1]
    assert isinstance(last, Finished) and last.text == "fine"


def _by_id(event: Failed) -> str:
    return event.id


@pytest.mark.parametrize("how", ["end of input", "shutdown", "sigterm", "end of input while hanging"])
def test_it_leaves_within_two_seconds(start: Callable[..., Worker], how: str) -> None:
    hang = {"hang_after": 1} if "hanging" in how else {"pace": 0.05}
    worker = start(replies=[{"text": "word " * 5000, **hang}])
    worker.send(Load("l", "nano"), ask())
    worker.until(Delta)
    asked = time.monotonic()
    if how == "shutdown":
        worker.send(Shutdown())
    elif how == "sigterm":
        worker.process.send_signal(signal.SIGTERM)
    else:
        assert worker.process.stdin is not None
        worker.process.stdin.close()
    assert worker.process.wait(10) == 0
    assert time.monotonic() - asked < 2 + PROMPT / 2


def test_the_terminals_interrupt_is_not_for_the_worker(start: Callable[..., Worker]) -> None:
    worker = start(replies=[{"text": "still here", "pace": 0.05}])
    worker.until(Ready)
    worker.process.send_signal(signal.SIGINT)
    worker.send(Load("l", "nano"), ask())
    last = worker.until(Finished)[-1]
    assert isinstance(last, Finished) and last.text == "still here"


@pytest.mark.skipif(sys.platform != "linux", reason="other systems rely on the end of the input alone")
def test_a_killed_parent_takes_a_stuck_worker_along(tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text(json.dumps({"replies": [{"freeze_after": 0}]}))
    parent = f"""
import subprocess, sys, time
from engine.protocol import Generate, Load, Message
from engine.wire import encode
worker = subprocess.Popen([sys.executable, "-m", "engine.worker", "--scripted", {str(script)!r}],
                          stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, start_new_session=True)
worker.stdin.write(encode(Load("l", "nano")) + encode(Generate("g", [Message("user", "x")])))
worker.stdin.flush()
print(worker.pid, flush=True)
time.sleep(60)
"""
    with subprocess.Popen([sys.executable, "-c", parent], stdout=subprocess.PIPE) as starter:
        assert starter.stdout is not None
        worker = psutil.Process(int(starter.stdout.readline()))
        deadline = time.monotonic() + 10
        while worker.status() != psutil.STATUS_STOPPED and time.monotonic() < deadline:
            time.sleep(0.02)
        assert worker.status() == psutil.STATUS_STOPPED
        starter.kill()
    gone, left = psutil.wait_procs([worker], timeout=10)
    unreaped = [process for process in left if process.status() == psutil.STATUS_ZOMBIE]
    for process in left:
        process.kill()
    assert gone or unreaped, "a container's first process may not collect the dead"


def test_a_reply_is_computed_to_its_end_while_nobody_reads(start: Callable[..., Worker]) -> None:
    text = "word " * 3000  # about 3 MB of lines, were they not merged
    worker = start(replies=[{"text": text, "prints": "computed", "prints_after": 3000}])
    worker.send(Load("l", "nano"), ask())
    deadline = time.monotonic() + 60
    while "computed" not in worker.log.read_text() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert "computed" in worker.log.read_text()
    events = worker.until(Finished)
    assert text_of(events) == text
    assert len(events) < 300


def test_two_heartbeats_while_computing(start: Callable[..., Worker]) -> None:
    worker = start(replies=[{"text": "a b", "hang_after": 1}])
    worker.send(Load("l", "nano"), ask())
    assert worker.process.stdout is not None
    beats: list[Heartbeat] = []
    for line in worker.process.stdout:
        event = decode(line)
        if isinstance(event, Heartbeat) and event.busy:
            beats.append(event)
        if len(beats) == 2:
            break
    assert 0.8 < beats[1].uptime - beats[0].uptime < 2
    assert beats[0].busy == "generate"
    assert 1 << 20 < beats[0].footprint_bytes < 1 << 32


def test_the_footprint_follows_what_is_held() -> None:
    from engine.footprint import footprint

    before = footprint()
    block = bytearray(os.urandom(1 << 20) * 64)
    assert footprint() - before > 60 << 20
    del block
