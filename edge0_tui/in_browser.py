"""Whether `edge0-tui serve` runs this process for a browser, so that its standard output is not a terminal's."""

from __future__ import annotations

import os

VARIABLE = "EDGE0_IN_BROWSER"


def in_browser() -> bool:
    return os.environ.get(VARIABLE) == "1"
