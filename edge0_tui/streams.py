"""The three standard streams, whatever the shell made of them."""

from __future__ import annotations

import os
import sys


def give_streams() -> None:
    """Streams that were closed before the start, as by `edge0-tui … >&-`, lead nowhere instead of being None.

    Called before anything is opened, so that each gets its own descriptor back and no file takes its place.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: PTH123, SIM115 - pathlib is not loaded


def drop_output() -> None:
    """What is still buffered must not raise again when the interpreter flushes it at the end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
