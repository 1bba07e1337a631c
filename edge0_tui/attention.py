"""Calling a person back when an answer that took long has ended: a bell, or a notification of the desktop's."""

from __future__ import annotations

from collections.abc import Mapping

from edge0_tui.one_line import one_line

BELL = "\a"
_OSC9 = "\x1b]9;{body}\x1b\\"
_OSC777 = "\x1b]777;notify;{title};{body}\x1b\\"
_MOST = 120


def call(way: str, title: str, body: str, environ: Mapping[str, str]) -> str:
    """What to write to the terminal; `way` is `off`, `bell` or `desktop`.

    There is no question a terminal answers about notifications, so its name decides between the two forms. Where
    the name says nothing, a bell goes along; tmux hands a form on only in its own wrapping and if it is allowed to.
    """
    if way == "off":
        return ""
    if way == "bell":
        return BELL
    title, body = one_line(title, _MOST).replace(";", ","), one_line(body, _MOST)
    sequence = _form(environ).format(title=title, body=body if _form(environ) == _OSC777 else f"{title}: {body}")
    if environ.get("TMUX"):
        return f"\x1bPtmux;{sequence.replace(chr(27), chr(27) * 2)}\x1b\\{BELL}"
    return sequence if _known(environ) else sequence + BELL


def _form(environ: Mapping[str, str]) -> str:
    if environ.get("TERM_PROGRAM") == "iTerm.app" or environ.get("LC_TERMINAL") == "iTerm2":
        return _OSC9
    return _OSC9 if "KITTY_WINDOW_ID" in environ else _OSC777


def _known(environ: Mapping[str, str]) -> bool:
    named = environ.get("TERM_PROGRAM", "") in ("iTerm.app", "WezTerm", "ghostty")
    return named or "KITTY_WINDOW_ID" in environ or environ.get("TERM", "").startswith(("foot", "rxvt-unicode"))
