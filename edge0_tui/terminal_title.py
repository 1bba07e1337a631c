"""The title of the terminal's window: the chat's while the application runs, what it was afterwards."""

from __future__ import annotations

from edge0_tui.one_line import one_line

SAVE, RESTORE = "\x1b[22;2t", "\x1b[23;2t"
"""xterm's stack of titles, which most terminals have; others ignore both."""
_NAME = "edge0"
_MOST = 80


def title_sequence(chat: str) -> str:
    """Sets the window's title (OSC 2) to the chat's, or to the application's name for a chat without one."""
    chat = one_line(chat, _MOST)
    return f"\x1b]2;{chat} · {_NAME}\x1b\\" if chat else f"\x1b]2;{_NAME}\x1b\\"
