"""Every action a person can take: the one source of key bindings, palette entries, key bar and help.

Terminals send ctrl+i, ctrl+m, ctrl+h and ctrl+[ as tab, enter, backspace and escape, so none of them is used.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from textual.binding import Binding, BindingType

Scope = Literal["app", "chat", "prompt", "chats"]
Group = Literal["Conversation", "Model", "View", "Program", "In the list of chats"]
UNUSABLE_KEYS = frozenset({"ctrl+i", "ctrl+m", "ctrl+h", "ctrl+left_square_bracket"})


@dataclass(frozen=True)
class Action:
    """One thing a person can do. `bar` is its word in the key bar; empty keeps it out of there."""

    id: str
    label: str
    help: str
    keys: tuple[str, ...]
    group: Group
    scope: Scope
    bar: str = ""
    palette: bool = True

    @property
    def key_label(self) -> str:
        """Its first key as people read it."""
        return show_key(self.keys[0]) if self.keys else ""


ACTIONS: tuple[Action, ...] = (
    Action("send", "Send", "Send what is in the prompt.", ("enter",), "Conversation", "prompt", "send", False),
    Action(
        "newline",
        "New line",
        "Start a new line in the prompt.",
        ("ctrl+j", "shift+enter", "alt+enter"),
        "Conversation",
        "prompt",
        "newline",
        False,
    ),
    Action(
        "history",
        "Earlier prompts",
        "In an empty prompt: bring back what you sent before.",
        ("up", "down"),
        "Conversation",
        "prompt",
        palette=False,
    ),
    Action(
        "stop",
        "Stop",
        "Stop the reply (its text is kept), take back a waiting message, or close a notice.",
        ("escape",),
        "Conversation",
        "chat",
        "stop",
    ),
    Action(
        "new_chat",
        "New chat",
        "Begin an empty conversation; the present one stays on disk.",
        ("ctrl+n",),
        "Conversation",
        "chat",
        "new",
    ),
    Action(
        "chats",
        "Chats",
        "List the saved conversations and open one.",
        ("ctrl+b", "ctrl+r"),
        "Conversation",
        "chat",
        "chats",
    ),
    Action(
        "resume",
        "Go on with the last chat",
        "Open the conversation you left last. In an empty prompt enter does the same.",
        (),
        "Conversation",
        "chat",
    ),
    Action(
        "edit_in_editor",
        "Write in $EDITOR",
        "Edit the prompt in the program named by $VISUAL or $EDITOR.",
        ("f4",),
        "Conversation",
        "chat",
    ),
    Action(
        "copy_answer",
        "Copy the last answer",
        "Copy the last answer as Markdown and say which way it went.",
        ("f8",),
        "Conversation",
        "chat",
    ),
    Action(
        "models",
        "Models",
        "Choose checkpoint, adapter and routing.",
        ("ctrl+o",),
        "Model",
        "chat",
        "models",
    ),
    Action(
        "restart_engine",
        "Restart the engine",
        "End the engine process and start a new one; the conversation stays.",
        ("f5",),
        "Model",
        "chat",
    ),
    Action(
        "toggle_thinking",
        "Show thinking",
        "Unfold or fold the model's thinking in every answer.",
        ("ctrl+t",),
        "View",
        "chat",
    ),
    Action(
        "toggle_panel",
        "Live figures",
        "Show or hide the panel of live figures.",
        ("f3",),
        "View",
        "chat",
        "figures",
    ),
    Action("theme", "Theme", "Choose the colours.", (), "View", "app"),
    Action("log", "Engine log", "Show the end of the engine's log.", ("ctrl+l",), "Program", "app"),
    Action("help", "Help", "Keys, and what each figure means.", ("f1",), "Program", "app", "help"),
    Action("settings", "Settings", "Change settings.", ("f2",), "Program", "app", "settings"),
    Action(
        "command_palette",
        "Commands",
        "Find any action by name.",
        ("ctrl+p",),
        "Program",
        "app",
        "commands",
        False,
    ),
    Action(
        "copy_or_stop",
        "Copy, or stop",
        "Copy what is selected; without a selection stop the reply; twice, leave.",
        ("ctrl+c",),
        "Program",
        "app",
        palette=False,
    ),
    Action("quit", "Quit", "Stop the engine and leave.", ("ctrl+q",), "Program", "app", "quit"),
    *(
        Action(f"chats_{id}", label, help, keys, "In the list of chats", "chats", bar, palette=False)
        for id, label, bar, help, keys in (
            ("open", "Open", "open", "Open the chat; a deleted one comes back.", ("enter",)),
            ("view", "Archived and deleted", "archived", "Go on to the archived, then the deleted ones.", ("tab",)),
            ("rename", "Rename", "rename", "Give it a name; an empty one brings its first line back.", ("ctrl+r",)),
            ("pin", "Pin", "pin", "Keep it above the others, or no longer.", ("ctrl+t",)),
            ("archive", "Archive", "archive", "Put it away from this list, or take it back.", ("ctrl+a",)),
            ("delete", "Delete", "delete", "Move it to the trash, where it stays for 30 days.", ("ctrl+d",)),
            ("undo", "Undo", "undo", "Bring back what was deleted last.", ("ctrl+z",)),
            ("export", "Export", "export", "Write it as Markdown, JSON or HTML.", ("ctrl+e",)),
            ("copy", "Duplicate", "copy", "Make a new chat with the same turns.", ("ctrl+y",)),
            ("close", "Close", "close", "Back to the conversation.", ("escape", "ctrl+b")),
        )
    ),
)
BY_ID = {action.id: action for action in ACTIONS}
PRIORITY = frozenset({"copy_or_stop", "quit", "command_palette"})


def bindings(scope: Scope, namespace: str = "") -> list[BindingType]:
    """Textual bindings of one scope; each carries its action's id, so that a keymap can change its keys.

    `namespace` is "app." where another node than the owner of the actions binds them.
    """
    return [
        Binding(
            ",".join(action.keys),
            namespace + action.id,
            action.label,
            show=False,
            # The list's keys come before those of its search field.
            priority=action.id in PRIORITY or scope == "chats",
            id=action.id,
            tooltip=action.help,
        )
        for action in ACTIONS
        if action.scope == scope and action.keys
    ]


def show_key(key: str) -> str:
    """A key as people read it: `ctrl+p` → `^p`, `escape` → `esc`."""
    names = {"escape": "esc", "up": "↑", "down": "↓"}
    return key.replace("ctrl+", "^") if key.startswith("ctrl+") else names.get(key, key)


def target(action: Action) -> str:
    """The action as Textual is asked to run it, from wherever that is."""
    return f"{'app' if action.scope == 'app' else 'screen'}.{action.id}"
