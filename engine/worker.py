"""The engine's process: `python -m engine.worker`.

The main thread computes and is the only one to touch MLX; others read requests, write events and send heartbeats.
Requests come on standard input, events leave on what was standard output when the process started; everything
printed goes to standard error. It leaves within two seconds of `Shutdown`, SIGTERM or the end of its input.
"""

from __future__ import annotations

import argparse
import faulthandler
import json
import logging
import os
import platform
import signal
import sys
import threading
from pathlib import Path
from typing import BinaryIO

from engine import __version__
from engine.process.heartbeat import start_heartbeat
from engine.process.inbox import Inbox, read_requests
from engine.process.lifeline import die_with_parent, leave_within
from engine.process.outbox import Outbox
from engine.process.serving import Server, Session
from engine.protocol import Ready

GRACE = 1.5
"""Seconds that a running job gets to notice that the process is leaving."""


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m engine.worker", description=__doc__)
    parser.add_argument("--scripted", type=Path, metavar="FILE", help="follow a script instead of a model")
    parser.add_argument("--describe", action="store_true", help="print device and kernels as JSON and leave")
    options = parser.parse_args(argv)
    if options.describe:
        return describe()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    faulthandler.enable()
    die_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    requests, events = claim_streams()
    serve(requests, events, options.scripted)
    return 0


def claim_streams() -> tuple[BinaryIO, int]:
    """Move both protocol streams to private descriptors, so that no print can corrupt them.

    Descriptor 0 reads nothing afterwards and descriptor 1 leads to standard error.
    """
    requests, events = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return os.fdopen(requests, "rb"), events


def serve(requests: BinaryIO, events: int, script: Path | None) -> None:
    """Answer requests until there will be no more."""
    inbox = Inbox()

    def leave() -> None:
        leave_within(GRACE, 0)
        inbox.close()

    outbox = Outbox(lambda line: _write_all(events, line), on_broken=leave)
    # The handler may interrupt a holder of the inbox's lock, hence a thread of its own.
    signal.signal(signal.SIGTERM, lambda *_: threading.Thread(target=leave, daemon=True).start())
    outbox.put(Ready(os.getpid(), __version__, device_name(), kernels_name()))
    start_heartbeat(outbox.put, lambda: inbox.busy)

    def read() -> None:
        try:
            read_requests(requests, inbox.submit, outbox.put)
        finally:
            leave()

    threading.Thread(target=read, name="protocol-reader", daemon=True).start()
    server = Server(lambda: _make_session(script), outbox.put)
    while (job := inbox.next()) is not None:
        server.handle(job)
    leave_within(GRACE, 0)
    outbox.close(GRACE / 2)
    server.close()


def device_name() -> str:
    """The device that will compute, known without importing MLX."""
    apple = sys.platform == "darwin" and platform.machine() == "arm64"
    return "Apple GPU" if apple else f"{platform.system()} CPU ({platform.machine()})"


def kernels_name() -> str:
    return "metal" if sys.platform == "darwin" and platform.machine() == "arm64" else "cpu"


def describe() -> int:
    from engine.kernels import describe as describe_kernels

    print(json.dumps(describe_kernels()))
    return 0


def _make_session(script: Path | None) -> Session:
    if script is not None:
        from engine.process.script import read_script
        from engine.process.scripted import ScriptedSession

        return ScriptedSession(read_script(script))
    from engine.session import Session as ModelSession

    return ModelSession()


def _write_all(descriptor: int, line: bytes) -> None:
    view = memoryview(line)
    while view:
        view = view[os.write(descriptor, view) :]


if __name__ == "__main__":
    sys.exit(main())
