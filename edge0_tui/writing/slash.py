"""Commands written in the prompt: `/name argument`. The registry's actions are commands, too."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from edge0_tui.keys import ACTIONS, BY_ID, Action

_COMMAND = re.compile(r"/([a-z][a-z0-9_-]*)(?:[ \t]+(.*))?", re.DOTALL | re.IGNORECASE)


@dataclass(frozen=True)
class Command:
    """What a command does alone is an action of the registry; with an argument, a function of `slash_actions`.

    `argument` is what may follow, as help shows it; empty: nothing may. A command of which the argument is `needed`
    is not run without; a function that has no `action` is called without one, too.
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
    Command("model", "Load another checkpoint; without a name, the menu.", "[NAME]", "models"),
    Command("adapter", "Switch to another adapter; without a name, the menu.", "[NAME|none]"),
    Command("routing", "Switch the routing; without a word, the menu.", "[exact|predicted]"),
    Command("theme", "Use other colours; without a name, choose among all.", "[NAME]", "theme"),
    Command("chats", "Open a saved chat; with words, search them.", "[WORDS]", "chats"),
    Command("search", "Search the saved chats.", "[WORDS]", "chats"),
    Command("export", "Write this chat to a file; alone, asks which.", "[md|html|json|FILE]", "export_chat"),
    Command("import", "Take in exported chats; without a file, choose some.", "[FILE]", "import_chats"),
    Command("history", "Find an earlier prompt.", "[WORDS]", "search_prompts"),
    Command("system", "Use a system prompt in this chat; without a name, choose or write one.", "[NAME|none]"),
    Command("preset", "Sampling of this chat; without a name, the table.", "[NAME]"),
    Command("temperature", "Temperature of this chat.", "NUMBER|none", needed=True),
    Command("seed", "Seed of this chat: the same question has the same answer.", "NUMBER|none", needed=True),
    Command("max", "Longest answer of this chat, in tokens.", "NUMBER|none", needed=True),
    Command("attach", "Attach a text file; without a path, choose one.", "[PATH]"),
    Command("save", "Save a prompt: the text after the name, else the one sent last.", "NAME [TEXT]", needed=True),
)  # fmt: skip
# Short names of actions.
_SHORT = {
    "new": "new_chat",
    "copy": "copy_answer",
    "edit": "edit_in_editor",
    "prompts": "saved_prompts",
    "regenerate": "message_again",
    "continue": "message_go_on",
    "fork": "message_fork",
    "compare": "message_compare",
    "thinking": "toggle_thinking",
    "figures": "toggle_panel",
}


def commands() -> dict[str, Command]:
    """All commands by name."""
    found = {command.name: command for command in _OWN}
    for name, id in _SHORT.items():
        found[name] = Command(name, BY_ID[id].help, action=id)
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


def nearest(name: str, known: Iterable[str], most: int = 1) -> list[str]:
    """The known names most like this one: those that hold it, or begin as it does, and those that differ little."""
    from difflib import get_close_matches

    each = list(dict.fromkeys(known))
    wanted = name.lower()
    holding = sorted(
        (one for one in each if len(wanted) > 1 and wanted in one.lower()),
        key=lambda one: not one.lower().startswith(wanted),
    )
    return list(dict.fromkeys([*holding, *get_close_matches(wanted, each, most)]))[:most]


def _runs(action: Action) -> bool:
    return action.palette and action.scope not in ("prompt", "chats", "sheet")
