"""Every action a person can take: the one source of key bindings, palette entries, key bar and help.

Terminals send ctrl+i, ctrl+m, ctrl+h and ctrl+[ as tab, enter, backspace and escape, so none of them is used.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from textual.binding import Binding, BindingType

Scope = Literal["app", "chat", "prompt", "chats", "models", "message", "sheet"]
Group = Literal[
    "Conversation",
    "Model",
    "View",
    "Program",
    "In the list of chats",
    "In the models screen",
    "A message",
    "In a sheet",
]
SAME_IN_A_TERMINAL = {
    "ctrl+i": "tab",
    "ctrl+m": "enter",
    "ctrl+h": "backspace",
    "ctrl+left_square_bracket": "escape",
}
UNUSABLE_KEYS = frozenset(SAME_IN_A_TERMINAL)


@dataclass(frozen=True)
class Action:
    """One thing a person can do. `bar` is its word in the key bar; empty keeps it out of there.

    `keys` are the usual ones; `edge0_tui.keymap` knows those it has now. `fixed` says why they cannot be changed.
    """

    id: str
    label: str
    help: str
    keys: tuple[str, ...]
    group: Group
    scope: Scope
    bar: str = ""
    palette: bool = True
    fixed: str = ""

    @property
    def key_label(self) -> str:
        """Its first usual key as people read it."""
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
        "From the first or last line: bring back what you sent before, in any chat, and what you were writing.",
        ("up", "down"),
        "Conversation",
        "prompt",
        palette=False,
        fixed="the arrow keys go through the lines first, so these stay",
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
        "export_chat",
        "Export this chat",
        "Write the conversation on screen as Markdown, JSON or HTML.",
        (),
        "Conversation",
        "chat",
    ),
    Action(
        "import_chats",
        "Import chats",
        "Take in chats that were exported as Markdown, JSON or HTML.",
        (),
        "Conversation",
        "chat",
    ),
    Action(
        "search_prompts",
        "Find an earlier prompt",
        "Search what you have sent, in all chats, and put it into the prompt.",
        ("ctrl+f",),
        "Conversation",
        "chat",
    ),
    Action(
        "saved_prompts",
        "Saved prompts",
        "Put in a prompt that you keep; in the prompt, /name does the same.",
        (),
        "Conversation",
        "chat",
    ),
    Action("save_prompt", "Save the prompt", "Keep the prompt under a name.", (), "Conversation", "chat"),
    Action(
        "unfold",
        "Unfold pasted text and files",
        "Show what is folded in the prompt, else in the messages; again folds it.",
        ("ctrl+s",),
        "Conversation",
        "chat",
    ),
    Action(
        "system_prompt",
        "System prompt",
        "Choose or write what the model is told first in this chat.",
        (),
        "Conversation",
        "chat",
    ),
    Action(
        "sampling",
        "Sampling of this chat",
        "Presets, seed and length of the answers of this chat.",
        (),
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
    Action("tour", "Introduction", "Show the few cards of the first start again.", (), "Program", "app"),
    Action("settings", "Settings", "Change settings.", ("f2",), "Program", "app", "settings"),
    Action("keys", "Keys", "Give actions other keys.", (), "Program", "app"),
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
    Action(
        "message_earlier",
        "Earlier message",
        "Choose the message above; the first time the last one.",
        ("alt+up", "ctrl+up"),
        "A message",
        "chat",
        "messages",
        False,
    ),
    Action(
        "message_later",
        "Later message",
        "Choose the message below.",
        ("alt+down", "ctrl+down"),
        "A message",
        "chat",
        palette=False,
    ),
    *(
        Action(f"message_{id}", label, help, keys, "A message", "message", bar, palette)
        for id, label, bar, palette, help, keys in (
            ("edit", "Edit the question", "edit", True, "Change your message; the old version stays.", ("e",)),
            ("again", "Answer again", "again", True, "Have it answered again; the old answer stays.", ("r",)),
            ("go_on", "Continue the answer", "go on", True, "Write on where a stopped answer ends.", ("g",)),
            ("previous", "Version before", "older", False, "Show the version before this one.", ("left",)),
            ("next", "Version after", "newer", False, "Show the version after this one.", ("right",)),
            ("copy", "Copy the message", "copy", False, "Copy the message as it was written.", ("c",)),
            ("code", "Copy a code block", "code", True, "Copy its first code block; again, the next.", ("k",)),
            ("fork", "Fork", "fork", True, "A new chat with everything up to this message.", ("f",)),
            ("compare", "Compare", "compare", True, "The same question to another model or routing.", ("v",)),
            ("beside", "Side by side", "beside", True, "Show two versions of an answer together.", ("b",)),
            ("leave", "Back to the prompt", "back", False, "Choose no message any longer.", ("escape",)),
        )
    ),
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
            ("import", "Import", "import", "Take in chats that were exported.", ("ctrl+o",)),
            ("copy", "Duplicate", "copy", "Make a new chat with the same turns.", ("ctrl+y",)),
            ("close", "Close", "close", "Back to the conversation.", ("escape", "ctrl+b")),
        )
    ),
    *(
        Action(id, label, help, keys, "In the models screen", "models", bar, palette=False)
        for id, label, help, keys, bar in (
            (
                "model_use",
                "Load or fetch",
                "Do what the line is for: load, fetch, put on, switch.",
                ("enter",),
                "load",
            ),
            ("model_less", "Smaller budget", "Plan with a smaller memory budget.", ("left",), "budget"),
            ("model_more", "Larger budget", "Plan with a larger memory budget.", ("right",), ""),
            ("model_automatic", "Usual budget", "Plan with the budget the engine would choose.", ("b",), "usual"),
            (
                "model_context",
                "Context",
                "Plan with the next longer context; after the longest the shortest.",
                ("c",),
                "context",
            ),
            ("model_get", "Fetch", "Begin a download, or go on with one.", ("d",), "fetch"),
            ("model_pause", "Pause", "Pause a download; what has arrived is kept.", ("p",), "pause"),
            (
                "model_cancel",
                "Cancel",
                "Stop a download or a verification; asks what to do with what has arrived.",
                ("x",),
                "cancel",
            ),
            (
                "model_repository",
                "Other repository",
                "Plan for any repository of the hub, by its name.",
                ("o",),
                "other",
            ),
            (
                "model_measure",
                "Measure",
                "Measure this disk and the kernels, up to a minute where the disk is slow.",
                ("m",),
                "measure",
            ),
            (
                "model_details",
                "Details",
                "Tensors, sizes, quantisation, and where the files came from.",
                ("i",),
                "details",
            ),
            (
                "model_start",
                "Load at start",
                "Load this model at every start; again: whichever suits the machine then.",
                ("s",),
                "at start",
            ),
            ("model_verify", "Verify", "Read and hash every file.", ("v",), "verify"),
            (
                "model_delete",
                "Delete",
                "Delete a model that was fetched; says first what that frees.",
                ("delete",),
                "delete",
            ),
        )
    ),
    Action(
        "use",
        "Use it",
        "Use the system prompt or the sampling that the sheet shows.",
        ("ctrl+s",),
        "In a sheet",
        "sheet",
        "use",
        False,
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
            bound(action.id, action.keys),
            namespace + action.id,
            action.label,
            show=False,
            # The keys of a list or a sheet come before those of its field.
            priority=action.id in PRIORITY or scope in ("chats", "sheet"),
            id=action.id,
            tooltip=action.help,
        )
        for action in ACTIONS
        if action.scope == scope
    ]


def bound(id: str, keys: tuple[str, ...]) -> str:
    """Keys as Textual's bindings take them. An action without any has one that no terminal sends: only what is
    bound already can be given a key later."""
    return ",".join(keys) or f"unbound+{id}"


def meet(one: Scope, other: Scope) -> bool:
    """Whether actions of these scopes can be used at one time, so that they cannot share a key."""
    return one == other or "app" in (one, other) or {one, other} <= {"chat", "prompt", "message"}


def show_key(key: str) -> str:
    """A key as people read it: `ctrl+p` → `^p`, `escape` → `esc`."""
    names = {
        "escape": "esc",
        "up": "↑",
        "down": "↓",
        "left": "←",
        "right": "→",
        "delete": "del",
        "alt+up": "alt+↑",
        "alt+down": "alt+↓",
    }
    return key.replace("ctrl+", "^") if key.startswith("ctrl+") else names.get(key, key)


def target(action: Action) -> str:
    """The action as Textual is asked to run it, from wherever that is."""
    return f"{'app' if action.scope == 'app' else 'screen'}.{action.id}"
