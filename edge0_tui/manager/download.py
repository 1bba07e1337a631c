"""The process of one download: `python -P -m edge0_tui.manager.download`.

The first line on standard input is an `Order`; any further line, its end (the application has gone) or SIGTERM
stops the download and keeps what has arrived. Events go to standard output. SIGKILL costs nothing either.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from pathlib import Path
from typing import BinaryIO

from edge0_tui.manager.job import Job
from edge0_tui.manager.messages import Failed, Finished, Message, decode_order, encode
from edge0_tui.manager.repo_id import RepoId
from engine.errors import EngineError


def main() -> int:
    # The channel is kept apart: whatever a library prints goes to standard error.
    out = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    order = decode_order(sys.stdin.buffer.readline())
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    threading.Thread(target=_listen, args=(sys.stdin.buffer, stop), daemon=True).start()

    def emit(message: Message) -> None:
        with contextlib.suppress(OSError):
            out.write(encode(message))
            out.flush()

    job = Job(RepoId(order.repo, order.revision), Path(order.folder), order.tuning, emit, stop)
    try:
        record = job.run()
    except EngineError as error:
        emit(Failed(error.kind, error.message, error.hint))
        return error.exit_code
    emit(Finished(record.bytes))
    return 0


def _listen(stream: BinaryIO, stop: threading.Event) -> None:
    stream.readline()
    stop.set()


if __name__ == "__main__":
    code = main()
    sys.stderr.flush()
    # Not sys.exit: a thread that waits for a silent server would keep the process alive.
    os._exit(code)
