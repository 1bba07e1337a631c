"""Which keys an action can have: what a terminal delivers and what writing a message leaves free."""

from __future__ import annotations

import re
import unicodedata

from edge0_tui.keys import ACTIONS, PRIORITY, SAME_IN_A_TERMINAL, Action

WRITING = frozenset(
    {f"ctrl+{letter}" for letter in "acdefkuvwxyz"}
    | {f"ctrl+{key}" for key in ("left", "right", "home", "end", "backspace", "delete")}
    | {f"ctrl+shift+{key}" for key in ("left", "right", "home", "end", "k")}
    | {"alt+backspace", "alt+delete", "f6", "f7"}
)
"""What the prompt does with these itself. A test compares it with the prompt's own list."""

_WITHOUT_A_FIELD = frozenset(["message", "models"])
"""Scopes where nothing is written, so that letters are keys."""
_MOVING = frozenset(["up", "down", "left", "right", "home", "end", "pageup", "pagedown"])
_PLAIN = _MOVING | frozenset(["enter", "tab", "escape", "backspace", "delete", "insert", "space"])
_FRIENDLY = {
    "slash": "SOLIDUS",
    "backslash": "REVERSE SOLIDUS",
    "at": "COMMERCIAL AT",
    "minus": "HYPHEN-MINUS",
    "plus": "PLUS SIGN",
    "underscore": "LOW LINE",
}
_WITH_CTRL = frozenset(["backslash", "right_square_bracket", "circumflex_accent", "underscore", "space"])
_KEY = re.compile(r"((?:(?:ctrl|alt|shift|super|hyper|meta)\+)*)([a-z0-9_]+)")


def normal(key: str) -> str:
    """A key as events call it: `Ctrl+]` → `ctrl+right_square_bracket`. What is no key stays as it is."""
    key = key.strip()
    *modifiers, base = (*key[:-1].split("+"), "+") if key.endswith("+") else key.split("+")
    if len(base) == 1 and not base.isalnum():
        name = unicodedata.name(base, "")
        base = next((short for short, long in _FRIENDLY.items() if long == name), name.lower().replace(" ", "_"))
    order = ("ctrl", "alt", "shift", "super", "hyper", "meta")
    held = sorted((part.lower() for part in modifiers if part), key=lambda m: order.index(m) if m in order else 9)
    return "+".join((*held, base.lower()))


def refuse(key: str, action: Action) -> str:
    """Why `action` cannot have `key`; empty if it can."""
    if action.fixed:
        return action.fixed
    if key in (usual for other in ACTIONS if other.scope == action.scope for usual in other.keys):
        return ""
    match = _KEY.fullmatch(key)
    if match is None or not _is_key(match[2]):
        return f"there is no key {key!r}"
    held, base = frozenset(match[1].split("+")) - {""}, match[2]
    return _undelivered(key, held, base) or _taken(key, held, base, action)


def _undelivered(key: str, held: frozenset[str], base: str) -> str:
    if key in SAME_IN_A_TERMINAL:
        return f"terminals send {SAME_IN_A_TERMINAL[key]} for {key}"
    if held & {"super", "hyper", "meta"}:
        return f"terminals keep {key} for themselves"
    if "ctrl" in held and len(base) == 1 and base.isalpha() and "shift" in held:
        return f"most terminals send {key.replace('shift+', '')} for {key}"
    if "ctrl" in held and base not in _WITH_CTRL | _MOVING and not _is_function(base) and not _is_letter(base):
        return f"most terminals do not send {key}"
    if held & {"shift", "alt"} and base in ("enter", "tab", "escape", "backspace", "space"):
        return f"many terminals send {base} for {key}"
    return ""


def _taken(key: str, held: frozenset[str], base: str, action: Action) -> str:
    if action.scope in _WITHOUT_A_FIELD:
        moves = held <= {"shift"} and base in _MOVING | {"tab"}
        return f"{key} moves the cursor" if moves else ""
    if held <= {"shift"} and base in _PLAIN:
        return f"{key} moves and edits"
    if held <= {"shift"} and not _is_function(base):
        return f"{key} is for writing"
    if key in WRITING and action.id not in PRIORITY and action.scope not in ("chats", "sheet"):
        return f"{key} edits text in the prompt"
    return ""


def _is_letter(base: str) -> bool:
    return len(base) == 1 and base.isascii() and base.isalpha()


def _is_function(base: str) -> bool:
    return re.fullmatch(r"f([1-9]|1\d|2[0-4])", base) is not None


def _is_key(base: str) -> bool:
    if len(base) == 1 or base in _PLAIN or _is_function(base):
        return True
    try:
        unicodedata.lookup(_FRIENDLY.get(base, base.replace("_", " ").upper()))
    except KeyError:
        return False
    return True
