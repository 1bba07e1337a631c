"""The reader of requests: what is refused, what stop reaches, and how the computing thread is woken."""

from __future__ import annotations

import io
import threading

from engine.process.inbox import Inbox, read_requests
from engine.protocol import Event, Failed, Generate, Heartbeat, Load, Message, Request, Reset, Shutdown, Stop
from engine.wire import encode


def test_lines_that_are_no_requests_are_refused_and_the_rest_still_read() -> None:
    submitted: list[Request] = []
    refused: list[Event] = []
    lines = [b"garbage\n", encode(Heartbeat(1.0)), encode(Reset()), encode(Shutdown()), encode(Stop("late"))]
    read_requests(io.BytesIO(b"".join(lines)), submitted.append, refused.append)
    assert submitted == [Reset(), Shutdown()]
    assert [(event.id, event.kind) for event in refused if isinstance(event, Failed)] == [("", "usage")] * 2


def test_stop_reaches_waiting_jobs_and_closing_wakes_the_computing_thread() -> None:
    inbox = Inbox()
    inbox.submit(Load("l", "nano"))
    inbox.submit(Generate("g", [Message("user", "hi")]))
    inbox.submit(Stop("g"))
    inbox.submit(Stop("finished long ago"))
    first, second = inbox.next(), inbox.next()
    assert first and second and not first.cancelled.is_set() and second.cancelled.is_set()
    assert inbox.busy == "generate"
    threading.Timer(0.05, inbox.close).start()
    assert inbox.next() is None
