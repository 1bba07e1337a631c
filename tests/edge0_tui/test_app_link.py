"""The engine link with an engine made of futures: what is published, and what happens after a crash in a load."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable, Coroutine
from pathlib import Path
from typing import Any

from edge0_tui.choice import Choice
from edge0_tui.engine_link import EngineLink
from edge0_tui.manager.use import alone, in_use
from edge0_tui.notices import Notice
from edge0_tui.safe_start import SafeStart
from engine.interface import Died, EngineDied, Unresponsive
from engine.interface import Notice as EngineNotice
from engine.protocol import Count, Counted, Event, Failed, Generate, Load, Loaded, Loading, ModelInfo, Ready


class FakeEngine:
    """Implements `engine.interface.Engine`; each load ends with what the test puts into its future."""

    def __init__(self) -> None:
        self.on_notice: Callable[[EngineNotice], None] | None = None
        self.loads: list[tuple[Load, asyncio.Future[Event]]] = []
        self.stopped: list[str] = []
        self.starts = 0
        self.alive = True
        self.ready: Ready | None = None
        self.unresponsive: Unresponsive | None = None
        self.last_load: Load | None = None

    async def start(self) -> Ready:
        self.starts += 1
        return Ready(1, "", "", "")

    async def load(self, request: Load) -> AsyncGenerator[Event, None]:
        future: asyncio.Future[Event] = asyncio.get_running_loop().create_future()
        self.loads.append((request, future))
        yield Loading(request.id, "weights")
        yield await future

    def reload(self) -> AsyncGenerator[Event, None]:
        raise NotImplementedError

    def generate(self, request: Generate) -> AsyncGenerator[Event, None]:
        raise NotImplementedError

    async def count(self, request: Count) -> Counted | Failed:
        raise NotImplementedError

    def stop(self, request_id: str) -> None:
        self.stopped.append(request_id)

    def reset(self) -> None: ...

    async def restart(self) -> Ready:
        return await self.start()

    async def close(self) -> str:
        return ""

    def finish(self, index: int, name: str) -> None:
        request, future = self.loads[index]
        future.set_result(Loaded(request.id, ModelInfo(name, "nano", name)))

    def refuse(self, index: int, message: str) -> None:
        request, future = self.loads[index]
        future.set_result(Failed(request.id, "plan", message))

    def die(self, index: int) -> None:
        self.loads[index][1].set_exception(EngineDied("signal SIGKILL"))
        assert self.on_notice
        self.on_notice(Died("signal SIGKILL", ""))


class Listener:
    """Remembers what was published."""

    def __init__(self) -> None:
        self.published: list[str] = []
        self.notices: list[str] = []

    def link_changed(self) -> None: ...

    def link_loaded(self, info: ModelInfo) -> None:
        self.published.append(info.name)

    def link_notice(self, notice: Notice) -> None:
        self.notices.append(notice.message)

    def link_notice_over(self, topic: str) -> None: ...


class Bench:
    """A link, its engine and its listener; `spawn` keeps tasks so that errors in them fail the test."""

    def __init__(self, directory: Path) -> None:
        self.engine, self.listener, self.safe = FakeEngine(), Listener(), SafeStart(directory)
        self.tasks: list[asyncio.Task[None]] = []
        self.link = EngineLink(self.engine, self.listener, self.safe, self.spawn)

    def spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self.tasks.append(task)
        return task

    async def loads(self, count: int) -> None:
        """Until this many loads have been asked for."""
        async with asyncio.timeout(5):
            while len(self.engine.loads) < count:
                await asyncio.sleep(0)

    async def settle(self) -> None:
        async with asyncio.timeout(5):
            await asyncio.gather(*self.tasks)


async def test_a_superseded_load_is_stopped_and_never_published(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.spawn(bench.link.load(Choice("/models/old")))
    await bench.loads(1)
    bench.spawn(bench.link.load(Choice("/models/new")))
    await bench.loads(2)
    assert bench.engine.stopped == [bench.engine.loads[0][0].id]
    bench.engine.finish(1, "new")
    bench.engine.finish(0, "old")
    await bench.settle()
    assert bench.listener.published == ["new"]
    assert bench.link.info and bench.link.info.name == "new" and bench.link.phase == "ready"


async def test_a_refused_load_brings_back_what_was_loaded(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.spawn(bench.link.load(Choice("/models/good")))
    await bench.loads(1)
    bench.engine.finish(0, "good")
    await bench.settle()
    bench.spawn(bench.link.load(Choice("/models/big")))
    await bench.loads(2)
    bench.engine.refuse(1, "too big")
    await bench.loads(3)
    assert bench.engine.loads[2][0].model == "/models/good"
    bench.engine.refuse(2, "gone meanwhile")
    await bench.loads(4)
    assert bench.engine.loads[3][0].model == "nano"
    bench.engine.refuse(3, "not even that")
    await bench.settle()
    assert bench.link.phase == "empty" and bench.link.info is None
    assert bench.listener.notices == ["big: too big", "good: gone meanwhile", "nano: not even that"]


async def test_a_crash_in_the_automatic_load_is_not_repeated_at_the_next_start(tmp_path: Path) -> None:
    first = Bench(tmp_path)
    first.spawn(first.link.open(Choice("/models/heavy")))
    await first.loads(1)
    first.engine.die(0)
    await first.settle()
    assert first.link.phase == "empty", "it is not loaded again at once either"
    await first.link.close()
    second = Bench(tmp_path)
    second.spawn(second.link.open(Choice("/models/heavy")))
    await second.loads(1)
    assert second.engine.loads[0][0].model == "nano"
    assert "ended in a crash" in second.listener.notices[0]
    second.engine.finish(0, "nano")
    await second.settle()
    third = Bench(tmp_path)
    third.spawn(third.link.open(Choice("/models/heavy")))
    await third.loads(1)
    assert third.engine.loads[0][0].model == "/models/heavy", "told once, not for ever"
    third.engine.finish(0, "heavy")
    await third.settle()


async def test_leaving_while_a_load_runs_is_not_a_crash(tmp_path: Path) -> None:
    first = Bench(tmp_path)
    first.spawn(first.link.open(Choice("/models/slow")))
    await first.loads(1)
    await first.link.close()
    assert SafeStart(tmp_path).crashed() is None
    first.engine.finish(0, "slow")
    await first.settle()
    assert first.listener.published == []


def test_the_marker_of_an_instance_that_lives_is_not_taken_for_a_crash(tmp_path: Path) -> None:
    alive = SafeStart(tmp_path)
    alive.begin("/models/slow")
    assert SafeStart(tmp_path).crashed() is None
    alive.leave()
    assert SafeStart(tmp_path).crashed() == "/models/slow"
    assert SafeStart(tmp_path).crashed() is None


async def test_what_is_loaded_is_held_until_something_else_is(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    first, second = tmp_path / "first", tmp_path / "second"
    for index, path in enumerate((first, second)):
        path.mkdir()
        bench.spawn(bench.link.load(Choice(str(path))))
        await bench.loads(index + 1)
        bench.engine.finish(index, path.name)
        await bench.settle()
        assert in_use(path)
    assert not in_use(first)
    await bench.link.close()
    assert not in_use(second)


async def test_what_is_being_loaded_is_held_from_the_moment_it_is_asked_for(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    first, second, third = (tmp_path / name for name in ("first", "second", "third"))
    for path in (first, second, third):
        path.mkdir()
    bench.spawn(bench.link.load(Choice(str(first))))
    await bench.loads(1)
    assert in_use(first)
    bench.engine.finish(0, "first")
    await bench.settle()
    bench.spawn(bench.link.load(Choice(str(second))))
    await bench.loads(2)
    assert in_use(first) and in_use(second), "the first comes back if the second fails"
    bench.spawn(bench.link.load(Choice(str(third))))
    await bench.loads(3)
    assert in_use(first) and not in_use(second) and in_use(third)
    bench.engine.finish(1, "second")
    bench.engine.refuse(2, "too large")
    await bench.loads(4)
    assert in_use(first) and not in_use(third)
    bench.engine.finish(3, "first")
    await bench.settle()
    assert in_use(first)
    await bench.link.close()
    assert not in_use(first)


async def test_a_model_that_is_being_deleted_is_not_loaded(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    folder = tmp_path / "going"
    folder.mkdir()
    with alone(folder):
        bench.spawn(bench.link.load(Choice(str(folder)), automatic=True))
        await bench.loads(1)
        assert bench.engine.loads[0][0].model == "nano", "there was nothing else"
        bench.engine.finish(0, "nano")
        await bench.settle()
        bench.spawn(bench.link.load(Choice(str(folder))))
        await bench.settle()
    assert len(bench.engine.loads) == 1 and bench.link.phase == "ready"
    assert bench.link.loaded == Choice() and bench.listener.published == ["nano"]
    assert [notice for notice in bench.listener.notices if "going is being deleted" in notice] != []


async def test_a_look_whether_it_is_in_use_is_not_taken_for_a_deletion(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    folder = tmp_path / "looked-at"
    folder.mkdir()
    looking = alone(folder)
    looking.__enter__()
    timer = threading.Timer(0.015, looking.__exit__, (None, None, None))
    timer.start()
    bench.spawn(bench.link.load(Choice(str(folder))))
    await bench.loads(1)
    timer.join()
    assert bench.engine.loads[0][0].model == str(folder)
    await bench.link.close()
    bench.engine.finish(0, "looked-at")
    await bench.settle()
