"""What can be entered besides messages: the one list that help, completion of words and hints follow."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Command:
    """`/name argument`, and what it does."""

    name: str
    help: str
    argument: str = ""


COMMANDS = (
    Command("help", "list the commands"),
    Command("new", "begin an empty chat; the present one stays on disk"),
    Command("stop", "stop the answer; its text is kept (so does ctrl+c)"),
    Command("model", "load another model, or list what can be loaded", "[NAME]"),
    Command("chats", "list the saved chats with numbers"),
    Command("open", "open a chat by its number or id; without one, the last", "[NUMBER]"),
    Command("draft", "send what was written and not sent"),
    Command("edit", "write a message in $EDITOR and send it"),
    Command("figures", "what the engine measured"),
    Command("log", "the end of the engine's log"),
    Command("restart", "end the engine and start it again; the chat stays"),
    Command("quit", "leave (so does the end of the input)"),
)
NAMES = tuple(command.name for command in COMMANDS)
MENTIONS = {
    "models": "/model",
    "chats": "/chats",
    "new_chat": "/new",
    "stop": "/stop",
    "copy_or_stop": "ctrl+c",
    "restart_engine": "/restart",
    "log": "/log",
    "help": "/help",
    "quit": "/quit",
    "resume": "/open",
    "edit_in_editor": "/edit",
}
"""What messages say here for the keys of the full screen's actions."""


def help_lines() -> list[str]:
    """One line a command."""
    heads = [f"/{command.name} {command.argument}".strip() for command in COMMANDS]
    width = max(map(len, heads))
    lines = [f"{head:{width}}  {command.help}" for head, command in zip(heads, COMMANDS, strict=True)]
    return [*lines, "Anything else is sent. A line that ends in \\ goes on in the next one; // begins one with /."]


def find(word: str) -> list[str]:
    """The commands this word means: itself, else all that begin with it."""
    return [word] if word in NAMES else [name for name in NAMES if word and name.startswith(word)]
