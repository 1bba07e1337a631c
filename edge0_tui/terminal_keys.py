"""Keys that Textual does not tell apart by itself."""

from __future__ import annotations

from typing import Any, cast

from textual._ansi_sequences import ANSI_SEQUENCES_KEYS
from textual.keys import Keys

ALT_ENTER = "\x1b\r"


def know_alt_enter() -> None:
    """Terminals without the extended keyboard protocol send escape and return for alt+enter.

    Textual takes that for a plain enter, which would send half a message; here it becomes ctrl+j, a new line.
    """
    cast("dict[str, Any]", ANSI_SEQUENCES_KEYS)[ALT_ENTER] = (Keys.ControlJ,)
