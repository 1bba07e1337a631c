"""Commands written in the prompt: `/name argument`. The registry's actions are commands, too."""

from __future__ import annotations

import re
from dataclasses import dataclass

from edge0_tui.keys import ACTIONS, BY_ID, Action

_COMMAND = re.compile(r"/([a-z][a-z0-9_-]*)(?:[ \t]+(.*))?", re.DOTALL | re.IGNORECASE)


@dataclass(frozen=True)
class Command:
    """What a command does is an action of the registry, or the screen's `slash_<name>` method.

    `argument` is what may follow, as help shows it. A command of which the argument is `needed` is not run without.
    """

    name: str
    help: str
    argument: str = ""
    action: str = ""
    needed: bool = False


@dataclass(frozen=True)
class Written:
    """A command as it stands in the prompt."""

    name: str
    argument: str = ""


_OWN = (
    Command("model", "Load another checkpoint; without a name, the menu.", "[NAME]"),
    Command("adapter", "Switch to another adapter.", "NAME|none", needed=True),
    Command("routing", "Switch the routing.", "exact|predicted", needed=True),
    Command("system", "Use a system prompt in this chat; without a name, choose or write one.", "[NAME|none]"),
    Command("preset", "Sampling of this chat; without a name, the table.", "[NAME]"),
    Command("temperature", "Temperature of this chat.", "NUMBER|none", needed=True),
    Command("seed", "Seed of this chat: the same question has the same answer.", "NUMBER|none", needed=True),
    Command("max", "Longest answer of this chat, in tokens.", "NUMBER|none", needed=True),
    Command("attach", "Attach a text file; without a path, choose one.", "[PATH]"),
    Command("save", "Save a prompt: the text after the name, else the one sent last.", "NAME [TEXT]", needed=True),
)  # fmt: skip
# Short names; the first action of each that there is.
_SHORT = {
    "new": ("new_chat",),
    "search": ("search_chats", "chats"),
    "copy": ("copy_answer",),
    "edit": ("edit_in_editor",),
    "prompts": ("saved_prompts",),
    "history": ("search_prompts",),
    "regenerate": ("message_again",),
    "continue": ("message_go_on",),
    "fork": ("message_fork",),
    "compare": ("message_compare",),
    "export": ("export_chat",),
    "thinking": ("toggle_thinking",),
    "figures": ("toggle_panel",),
}


def commands() -> dict[str, Command]:
    """All commands by name."""
    found = {command.name: command for command in _OWN}
    for name, candidates in _SHORT.items():
        if (action := next((BY_ID[id] for id in candidates if id in BY_ID), None)) is not None:
            found[name] = Command(name, action.help, action=action.id)
    short = {command.action for command in found.values()}
    for action in ACTIONS:
        name = action.id.replace("_", "-")
        renamed = action.id in short and "_" in action.id
        if _runs(action) and name not in found and not renamed:
            found[name] = Command(name, action.help, action=action.id)
    return dict(sorted(found.items()))


def in_prompt() -> list[tuple[str, str]]:
    """What can be written in the prompt besides text, and what it does, for the help."""
    own = [(f"/{command.name} {command.argument}", command.help) for command in _OWN]
    return [
        ("@path", "Send a text file with the message; @ proposes names."),
        ("/name", "Put in the saved prompt of this name; what follows takes the place of {input}."),
        ("/action", "Run any action of this help: /new, /chats, /copy …"),
        *own,
    ]


def parse(text: str) -> Written | None:
    """The command a prompt consists of, or None. `/usr/bin` and a text with a space before its slash are none."""
    match = _COMMAND.fullmatch(text.rstrip())
    return Written(match[1].lower(), (match[2] or "").strip()) if match else None


def nearest(name: str, known: list[str]) -> str:
    """The known name most like this one, empty if none is."""
    from difflib import get_close_matches

    return next(iter(get_close_matches(name, known, 1)), "")


def _runs(action: Action) -> bool:
    return action.palette and action.scope not in ("prompt", "chats")
