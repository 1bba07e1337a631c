"""Exit codes of the command line, as documented in --help and the README."""

from __future__ import annotations

DONE = 0
USAGE = 2
PLAN = 3
FILES = 4
ENGINE = 5
NETWORK = 6
STOPPED = 130


def of(kind: str) -> int:
    """That of an error by its kind, of the engine's or the manager's; ENGINE for a kind nobody knows."""
    from edge0_tui.manager import errors as manager
    from engine import errors

    known = {**errors.KINDS, **manager.KINDS}
    return known[kind].exit_code if kind in known else ENGINE


EPILOG = """\
exit codes: 0 done, 2 wrong usage, or the model is being deleted, fetched or used elsewhere,
            3 not possible on this machine, 4 bad or missing files, 5 the engine failed,
            6 the network or the hub failed, 130 stopped
Data goes to standard output, everything else to standard error."""
