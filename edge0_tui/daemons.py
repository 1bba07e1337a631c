"""Blocking work in daemon threads: what waits for a network that is silent must not keep the program from ending.

The threads of `asyncio.to_thread` and of an executor are waited for when the loop and the interpreter end.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from queue import Empty, SimpleQueue
from typing import TypeVar

T = TypeVar("T")


async def in_daemon(work: Callable[[], T], name: str) -> T:
    """What `work` returns or raises. Giving up waiting does not stop it, and it does not hold up the loop's end."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()

    def end(result: T | None, error: BaseException | None) -> None:
        if future.done():
            return
        if error is not None:
            future.set_exception(error)
        else:
            future.set_result(result)  # type: ignore[arg-type]

    def run() -> None:
        result: T | None = None
        failed: BaseException | None = None
        try:
            result = work()
        except BaseException as error:  # noqa: BLE001 - handed on to whoever waits
            failed = error
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(end, result, failed)

    threading.Thread(target=run, name=name, daemon=True).start()
    return await future


def each_in_daemons(jobs: Sequence[Callable[[], T]], threads: int, seconds: float, name: str) -> Iterator[T]:
    """Results as they come. The first error ends it, without waiting for the jobs that still run.

    Raises what a job raised, and `TimeoutError` when they are not over after `seconds`.
    """
    work: SimpleQueue[Callable[[], T]] = SimpleQueue()
    results: SimpleQueue[tuple[T | None, BaseException | None]] = SimpleQueue()
    stop = threading.Event()
    for job in jobs:
        work.put(job)

    def run() -> None:
        with contextlib.suppress(Empty):
            while not stop.is_set():
                job = work.get_nowait()
                try:
                    results.put((job(), None))
                except BaseException as error:  # noqa: BLE001 - raised again by whoever reads the results
                    results.put((None, error))

    for number in range(min(threads, len(jobs))):
        threading.Thread(target=run, name=f"{name}-{number}", daemon=True).start()
    until = time.monotonic() + seconds
    try:
        for _ in jobs:
            try:
                result, error = results.get(timeout=max(0.0, until - time.monotonic()))
            except Empty:
                raise TimeoutError(f"{name} took more than {seconds:.0f} s") from None
            if error is not None:
                raise error
            yield result  # type: ignore[misc]
    finally:
        stop.set()
