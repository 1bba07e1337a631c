"""Exit codes of the command line, as documented in --help and the README."""

from __future__ import annotations

DONE = 0
USAGE = 2
PLAN = 3
FILES = 4
ENGINE = 5
NETWORK = 6
STOPPED = 130

EPILOG = """\
exit codes: 0 done, 2 wrong usage, 3 not possible on this machine, 4 bad or missing files,
            5 the engine failed, 6 the network or the hub failed, 130 stopped
Data goes to standard output, everything else to standard error."""
