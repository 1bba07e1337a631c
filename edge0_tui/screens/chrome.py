"""What the lines around the transcript say at this moment. Pure: from the controller's state to values.

Texts name keys by their action; `Keymap.say` puts in the keys it has.
"""

from __future__ import annotations

from edge0_tui.branching import UNFINISHED
from edge0_tui.controller import Controller
from edge0_tui.engine_words import activity
from edge0_tui.widgets.activity_line import Activity
from edge0_tui.widgets.header import HeaderState


def header_state(controller: Controller) -> HeaderState:
    """The header's content; what the engine is busy with stands in while no model is loaded."""
    title = controller.conversation.title if controller.conversation.turns else ""
    return HeaderState(controller.link.info, activity(controller.link), controller.figures.context, title)


def placeholder(controller: Controller) -> str:
    """What an empty prompt says: whether writing is answered now, and if not, why."""
    link = controller.link
    if link.phase in ("starting", "loading"):
        return f"Write a message · {activity(link)}…"
    if link.phase == "down":
        return "The engine is not running; {key:restart_engine} restarts it"
    if link.phase == "empty":
        return "No model is loaded; {key:models} chooses one"
    return "Write a message · / for commands · @ for files"


def doing(controller: Controller) -> Activity:
    """What the line above the prompt says: a waiting message first, then an edit, else a wordless reply."""
    if controller.pending:
        return Activity(_why_waiting(controller), text=controller.pending)
    if controller.branching.editing:
        send = "send" if controller.settings.chat.enter_sends else "newline"
        return Activity(f"a new version of your message; {{key:{send}}} sends it, {{key:stop}} leaves it")
    if controller.branching.comparing and controller.link.phase == "loading":
        return Activity(f"comparing: {activity(controller.link)}")
    reply = controller.reply
    if reply is None or not reply.shown:
        return Activity()
    if reply.stopping:
        return Activity("stopping")
    if reply.counters.completion_tokens:
        return Activity()
    if controller.figures.prefill is None:
        return Activity("sending")
    done, total = controller.figures.prefill
    if done >= total:
        return Activity("waiting for the first token")
    return Activity(f"reading the prompt, {done:,} of {total:,} tokens", done / total)


def _why_waiting(controller: Controller) -> str:
    if controller.reply is not None:
        return "waits for the present answer"
    return {
        "starting": "waits for the engine",
        "loading": "waits for the model",
        "empty": "waits for a model ({key:models})",
        "down": "waits for the engine ({key:restart_engine} restarts it)",
    }.get(controller.link.phase, "waits")


def key_bar(controller: Controller) -> tuple[tuple[str, ...], dict[str, str]]:
    """The actions worth showing now, and words that differ from the registry's."""
    usual = (
        "command_palette",
        "new_chat",
        "models",
        "chats",
        "message_earlier",
        "help",
        "toggle_panel",
        "settings",
        "quit",
    )
    if controller.reply is not None and controller.reply.shown:
        word = "stopping…" if controller.reply.stopping else "stop"
        return ("stop", *usual), {"stop": word}
    if controller.pending:
        return ("stop", *usual), {"stop": "take back"}
    if controller.link.phase == "loading":
        return ("send", "stop", *usual), {"stop": "stop loading"}
    if controller.link.phase == "down":
        return ("restart_engine", "log", *usual), {"restart_engine": "restart the engine", "log": "log"}
    enter = controller.settings.chat.enter_sends
    return ("send", "newline", *usual), ({} if enter else {"send": "newline", "newline": "send"})


def message_keys(controller: Controller, turn_id: str) -> tuple[tuple[str, ...], dict[str, str]]:
    """What can be done with the chosen message."""
    turn = controller.conversation.turns.get(turn_id)
    if turn is None:
        return key_bar(controller)
    several = len(controller.conversation.siblings(turn_id)) > 1
    other = ("message_previous", "message_next") if several else ()
    if turn.role == "user":
        ids = ("message_leave", "message_edit", *other, "message_again", "message_copy", "message_fork")
    else:
        stopped = turn.attribution is not None and turn.attribution.finish_reason in UNFINISHED
        go_on = ("message_go_on",) if stopped else ()
        beside = ("message_beside",) if several else ()
        ids = ("message_leave", *go_on, *other, "message_again", "message_compare", *beside, "message_copy")
        ids += ("message_code", "message_fork")
    return (*ids, "help"), {}
