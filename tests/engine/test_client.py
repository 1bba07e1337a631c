"""The client against a scripted worker: replies, faults, restarts, recordings, and that nothing is left behind."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from engine.client import EngineClient
from engine.errors import CheckpointError, UsageError
from engine.interface import Died, Engine, EngineDied, Notice, Responsive, Unresponsive, new_id
from engine.process.inflow import Inflow
from engine.process.replay import ReplayClient
from engine.process.vigil import Vigil
from engine.protocol import (
    Count,
    Counted,
    Counters,
    Delta,
    Event,
    Failed,
    Finished,
    Generate,
    Heartbeat,
    Load,
    Loaded,
    Loading,
    Message,
    Piece,
)

REPLIES: list[dict[str, Any]] = [
    {"match": "long", "text": "word " * 5000, "pace": 0.05},
    {"match": "crash", "text": "a b c d", "crash_after": 2, "pace": 0.05},
    {"match": "hang", "text": "a b c", "hang_after": 1},
    {"match": "freeze", "text": "a b c", "freeze_after": 1},
    {"match": "big", "text": "word " * 60_000},
    {"match": "bug", "text": "a b c", "raise_after": 1},
    {"text": "fine thanks", "thinking": "hm", "pace": 0.001},
]
Make = Callable[..., Awaitable[EngineClient]]


@pytest.fixture
async def make(tmp_path: Path) -> AsyncIterator[Make]:
    """Starts clients whose worker follows REPLIES, and checks that no process outlives its client."""
    script = tmp_path / "script.json"
    script.write_text(json.dumps({"replies": REPLIES}))
    clients: list[EngineClient] = []
    pids: list[int] = []

    async def start(load: bool = True, **more: Any) -> EngineClient:
        command = [sys.executable, "-m", "engine.worker", "--scripted", str(script)]
        client = EngineClient(command, log_path=tmp_path / "engine.log", **{"grace": 20.0, **more})
        clients.append(client)
        pids.append((await client.start()).pid)
        if load:
            assert isinstance((await collect(client.load(Load(new_id(), "nano"))))[-1], Loaded)
        return client

    yield start
    for client in clients:
        pids += [client.pid] if client.pid else []
        await client.close()
    assert not [pid for pid in pids if psutil.pid_exists(pid)]


async def collect(events: AsyncIterator[Event]) -> list[Event]:
    return [event async for event in events]


def ask(text: str = "hi", **more: Any) -> Generate:
    return Generate(new_id(), [Message("user", text)], **more)


async def say(client: Engine, text: str = "hi") -> Finished:
    last = (await collect(client.generate(ask(text))))[-1]
    assert isinstance(last, Finished)
    return last


async def until(condition: Callable[[], bool], seconds: float = 30) -> None:
    async with asyncio.timeout(seconds):
        while not condition():
            await asyncio.sleep(0.01)


async def test_load_and_reply(make: Make) -> None:
    client = await make(load=False)
    loading = await collect(client.load(Load("l", "nano", adapter="special")))
    assert all(isinstance(event, Loading) for event in loading[:-1])
    loaded = loading[-1]
    assert isinstance(loaded, Loaded) and loaded.id == "l" and loaded.info.adapter == "special"
    assert client.last_load == Load("l", "nano", adapter="special")
    request = ask(thinking=True)
    events = await collect(client.generate(request))
    assert {event.id for event in events if isinstance(event, Delta | Finished)} == {request.id}
    pieces = [piece for event in events if isinstance(event, Delta) for piece in event.pieces]
    assert "".join(piece.text for piece in pieces if piece.channel == "answer") == "fine thanks"
    assert "".join(piece.text for piece in pieces if piece.channel == "thinking") == "hm"
    assert client.alive and client.ready and client.ready.pid == client.pid
    assert await client.close() == "shutdown"
    assert not client.alive


async def test_refusals_are_events_and_keep_the_text(make: Make) -> None:
    client = await make(load=False)
    early = (await collect(client.generate(ask())))[-1]
    assert isinstance(early, Failed) and early.kind == "usage"
    await collect(client.load(Load("l", "nano")))
    failed = (await collect(client.generate(ask("bug"))))[-1]
    assert isinstance(failed, Failed) and (failed.kind, failed.text) == ("engine", "a")
    assert (await say(client)).text == "fine thanks"


async def test_stop_while_running_and_while_waiting(make: Make) -> None:
    client = await make()
    running, waiting = ask("long"), ask("long")
    tasks = [asyncio.create_task(collect(client.generate(request))) for request in (running, waiting)]
    await asyncio.sleep(0.3)
    client.stop(waiting.id)
    client.stop(running.id)
    client.stop("never asked")
    async with asyncio.timeout(30):
        lasts = [(await task)[-1] for task in tasks]
    assert [event.finish_reason for event in lasts if isinstance(event, Finished)] == ["cancelled"] * 2
    assert (await say(client)).finish_reason == "stop"


@pytest.mark.parametrize("how", ["break", "cancel"])
async def test_leaving_the_iterator_stops_the_reply(make: Make, how: str) -> None:
    client = await make()

    async def first_word() -> None:
        async with contextlib.aclosing(client.generate(ask("long"))) as events:
            async for event in events:
                if isinstance(event, Delta) and how == "break":
                    return

    task = asyncio.create_task(first_word())
    if how == "cancel":
        await asyncio.sleep(0.3)
        task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task
    async with asyncio.timeout(30):  # the long reply would take minutes
        assert (await say(client)).text == "fine thanks"


async def test_a_crash_is_told_and_the_same_client_goes_on(make: Make) -> None:
    client = await make()
    notices: list[Notice] = []
    client.on_notice = notices.append
    seen: list[Event] = []
    with pytest.raises(EngineDied, match="exit code 70") as caught:
        async for event in client.generate(ask("crash")):
            seen.append(event)
    assert any(isinstance(event, Delta) for event in seen), "the text so far has arrived"
    assert caught.value.exit_code == 5
    await until(lambda: any(isinstance(notice, Died) for notice in notices))
    with pytest.raises(EngineDied):
        await collect(client.generate(ask()))
    first = client.pid
    await client.start()
    assert client.pid != first
    assert isinstance((await collect(client.reload()))[-1], Loaded)
    assert (await say(client)).text == "fine thanks"


async def test_a_death_without_open_requests_is_noticed_with_the_log(make: Make) -> None:
    client = await make()
    notices: list[Notice] = []
    client.on_notice = notices.append
    with pytest.raises(AssertionError):
        await say(client, "bug")  # leaves a traceback in the log
    assert client.pid
    psutil.Process(client.pid).kill()
    await until(lambda: any(isinstance(notice, Died) for notice in notices))
    died = next(notice for notice in notices if isinstance(notice, Died))
    assert died.status == "signal SIGKILL" and "RuntimeError" in died.log_tail


async def test_a_process_that_cannot_speak_the_protocol_is_a_death(tmp_path: Path) -> None:
    program = "print('hello'); import sys; sys.exit('no such device')"
    client = EngineClient([sys.executable, "-c", program], log_path=tmp_path / "log")
    with pytest.raises(EngineDied, match="exit code 1") as caught:
        await client.start()
    assert "no such device" in caught.value.log_tail
    assert client.garbage_lines == 1 and "hello" in (tmp_path / "log").read_text()
    await client.close()


async def test_garbage_and_very_long_lines_do_not_end_it(tmp_path: Path) -> None:
    program = """
import sys
from engine.protocol import Failed, Ready
from engine.wire import encode
out = sys.stdout.buffer
out.write(b"garbage\\n" + encode(Ready(1, "v", "d", "k")) + b"[1, 2]\\n")
out.write(encode(Failed("long", "engine", "x" * 1_000_000)))
out.flush()
sys.stdin.buffer.read()
"""
    client = EngineClient([sys.executable, "-c", program], log_path=tmp_path / "log", grace=20.0)
    await client.start()
    failed = (await collect(client.load(Load("long", "nano"))))[-1]
    assert isinstance(failed, Failed) and len(failed.message) == 1_000_000
    assert client.garbage_lines == 2
    assert await client.close() == "shutdown"


async def test_a_hang_is_noticed_and_the_ladder_ends_it(make: Make) -> None:
    client = await make(patience=1.0, grace=0.5)
    notices: list[Notice] = []
    client.on_notice = notices.append
    request = ask("freeze")
    reply = asyncio.create_task(collect(client.generate(request)))
    await until(lambda: any(isinstance(notice, Unresponsive) for notice in notices))
    assert client.unresponsive and client.unresponsive.reason == "silent"
    assert await client.close() == "kill"
    with pytest.raises(EngineDied, match="closed"):
        await reply
    assert not any(isinstance(notice, Died) for notice in notices), "it was ended on purpose"
    await client.restart()
    assert isinstance((await collect(client.reload()))[-1], Loaded)
    assert (await say(client)).text == "fine thanks" and client.unresponsive is None


async def test_a_stop_that_is_not_obeyed_is_noticed(make: Make) -> None:
    client = await make(patience=2.0)
    request = ask("hang")
    reply = asyncio.create_task(collect(client.generate(request)))
    await asyncio.sleep(0.3)
    client.stop(request.id)
    await until(lambda: client.unresponsive is not None)
    assert client.unresponsive and client.unresponsive.reason == "stop"
    assert await client.close() == "shutdown"
    with pytest.raises(EngineDied):
        await reply


async def test_a_slow_consumer_gets_few_events_and_all_the_text(make: Make) -> None:
    client = await make()
    request, texts, count = ask("hi"), [], 0
    async for event in client.generate(request):
        await asyncio.sleep(0.2)
        count += 1
        if isinstance(event, Delta):
            texts += [piece.text for piece in event.pieces]
    assert "".join(texts) == "fine thanks"
    assert count <= 6


async def test_many_waiting_deltas_are_one_event() -> None:
    inflow = Inflow()
    for number in range(10_000):
        inflow.put(Delta("g", [Piece("answer", "x")], Counters(completion_tokens=number + 1)))
    events = await inflow.take()
    assert events == [Delta("g", [Piece("answer", "x" * 10_000)], Counters(completion_tokens=10_000))]
    inflow.put(Failed("g", "engine", "no"))
    inflow.fail(EngineDied("exit code 1"))
    assert [type(event) for event in await inflow.take()] == [Failed]
    with pytest.raises(EngineDied):
        await inflow.take()


async def test_heartbeats_reach_the_listener_and_its_mistakes_do_not_harm(make: Make) -> None:
    client = await make()
    beats: list[Notice] = []
    problems: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: problems.append(context))

    def listen(notice: Notice) -> None:
        beats.append(notice)
        raise RuntimeError("a listener's mistake")

    client.on_notice = listen
    await until(lambda: any(isinstance(notice, Heartbeat) for notice in beats))
    assert (await say(client)).text == "fine thanks"
    assert "listener's mistake" in str(problems[0]["exception"])


def test_a_listener_that_was_blocked_itself_does_not_blame_the_engine() -> None:
    vigil = Vigil(10.0)
    vigil.begin()
    now = vigil._heard_at
    assert vigil.look(now + 1) == []
    assert vigil.look(now + 60) == [], "nobody looked for 59 s"
    for second in range(61, 71):
        assert vigil.look(now + second) == []
    assert vigil.look(now + 71) == [Unresponsive("silent", 11.0)]
    assert vigil.look(now + 72) == []
    vigil._heard_at = now + 72
    assert vigil.look(now + 73) == [Responsive()] and vigil.state is None


async def test_a_recording_replays_the_same_events(make: Make, tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    client = await make(record=path)
    recorded = await collect(client.generate(ask(thinking=True)))
    await client.close()
    replay = ReplayClient(path)
    engine: Engine = replay
    await engine.start()
    loaded = (await collect(engine.load(Load("other", "whatever"))))[-1]
    assert isinstance(loaded, Loaded) and loaded.id == "other"
    request = ask("anything")
    replayed = await collect(engine.generate(request))
    assert {event.id for event in replayed if isinstance(event, Delta | Finished)} == {request.id}
    assert _said(replayed) == _said(recorded) and len(_said(replayed)) > 5
    last, first = replayed[-1], recorded[-1]
    assert isinstance(last, Finished) and isinstance(first, Finished)
    assert (last.ids, last.counters) == (first.ids, first.counters)
    again = ask()
    events: list[Event] = []
    async for event in engine.generate(again):
        events.append(event)
        engine.stop(again.id)
    assert isinstance(events[-1], Finished) and events[-1].finish_reason == "cancelled"


def _said(events: list[Event]) -> str:
    return "".join(piece.text for event in events if isinstance(event, Delta) for piece in event.pieces)


async def test_a_replay_keeps_the_recorded_times(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    load = '{"type":"Load","id":"l","model":"nano"}'
    end = '{"type":"Failed","id":"l","kind":"engine","message":"no"}'
    path.write_text(f'{{"at":1.0,"message":{load}}}\n{{"at":1.3,"message":{end}}}\n')
    loop = asyncio.get_running_loop()
    for speed, least in ((1.0, 0.29), (2.0, 0.14), (0.0, 0.0)):
        started = loop.time()
        await collect(ReplayClient(path, speed=speed).load(Load("x", "nano")))
        assert loop.time() - started >= least
    with pytest.raises(UsageError, match="no reply"):
        await collect(ReplayClient(path).generate(ask()))


@pytest.mark.parametrize("text", ["nonsense\n", '{"at":0,"message":{"type":"Stop"}}\n', '{"at":"x"}\n', "[]\n"])
def test_a_damaged_recording_names_file_and_line(tmp_path: Path, text: str) -> None:
    path = tmp_path / "session.jsonl"
    path.write_text('{"at":0.0,"message":{"type":"Reset"}}\n' + text)
    with pytest.raises(CheckpointError, match=r"session.jsonl, line 2"):
        ReplayClient(path)


async def test_a_folder_called_engine_where_it_is_started_is_not_taken_for_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "engine").mkdir()
    (tmp_path / "engine" / "__init__.py").write_text("raise SystemExit(3)")
    monkeypatch.chdir(tmp_path)
    client = EngineClient(log_path=tmp_path / "log")
    try:
        assert (await client.start()).pid
    finally:
        await client.close()


async def test_tokens_of_texts_are_counted_between_the_replies(make: Make) -> None:
    client = await make(load=False)
    refused = await client.count(Count(new_id(), ["one two"]))
    assert isinstance(refused, Failed) and refused.kind == "usage"
    async for _ in client.load(Load(new_id(), "nano")):
        pass
    counted = await client.count(Count(new_id(), ["one two", "", "three"]))
    assert isinstance(counted, Counted) and counted.tokens == [2, 0, 1]
    await client.close()
    with pytest.raises(EngineDied):
        await client.count(Count(new_id(), ["one"]))
