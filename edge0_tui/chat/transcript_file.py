"""A conversation as one Markdown file that reads well anywhere.

It shows the active path. Before each turn stands a comment with the turn's identity, which no viewer displays:

    <!-- turn {"id": "5f0c…", "role": "user", "created": "2026-11-30T09:12:44.101+00:00"} -->
    ## You

    What is the allocator peak?

The text of a turn is everything between the first empty line after the comment and the empty line before the
next comment, byte for byte; a line of the text that looks like such a comment gets a backslash in front. So the
path can be read back without the sidecar. Other branches, thinking, figures, the system prompt and the draft
are in the sidecar only. (Exports have other branches, too, whose turns name their `parent`, and end in a comment
`<!-- chat … -->`; see `edge0_tui.exchange`.)
"""

from __future__ import annotations

import json
import re
from typing import get_args

from edge0_tui import units
from edge0_tui.chat import front_matter
from edge0_tui.chat.codec import check_tree, moment
from edge0_tui.chat.conversation import Conversation
from edge0_tui.chat.errors import FormatError
from edge0_tui.chat.front_matter import Value
from edge0_tui.chat.turn import Turn
from engine.protocol import Role

_MARK = re.compile(r"<!-- turn (\{.*\}) -->")
_END = "<!-- chat "
_LOOKS_LIKE = re.compile(r"^(\\*)(?=<!-- (?:turn|chat) )", re.MULTILINE)
_ESCAPED = re.compile(r"^\\(\\*)(?=<!-- (?:turn|chat) )", re.MULTILINE)


def write(conversation: Conversation) -> bytes:
    """The whole file. Half characters, which no file can hold, are the only thing that is not kept."""
    turns = "".join(turn_text(conversation, turn) for turn in conversation.path)
    return front_matter.encodable(beginning(conversation) + turns).encode()


def beginning(conversation: Conversation) -> str:
    """What stands above the first turn."""
    return front_matter.write(head(conversation)) + f"# {_one_line(conversation.title) or 'Untitled'}\n\n"


def head(conversation: Conversation) -> dict[str, Value]:
    """What a list of chats needs, so that it can be shown without reading whole files."""
    answers = [turn.attribution for turn in conversation.path if turn.attribution]
    last = answers[-1] if answers else None
    return {
        "id": conversation.id,
        "title": conversation.title,
        "named": bool(conversation.name),
        "created": conversation.created.isoformat(),
        "updated": conversation.updated.isoformat(),
        "model": last.model if last else "",
        "tier": last.tier if last else "",
        "adapter": last.adapter if last else "",
        "routing": last.routing if last else "",
        "turns": len(conversation.turns),
        "pinned": conversation.pinned,
        "archived": conversation.archived,
    }


def read(data: bytes) -> Conversation:
    """What is shown, from Markdown alone. Raises `FormatError`."""
    values, body = front_matter.read(data.decode("utf-8", "replace"))
    turns: list[Turn] = []
    for mark, chunk in _chunks(body):
        turns.append(_read_turn(mark, chunk, turns[-1].id if turns else None))
    # The active path comes first, so the first turn below each parent is the one on it.
    chosen = {turn.parent: turn.id for turn in reversed(turns)}
    try:
        conversation = Conversation(
            id=str(values["id"]),
            name=str(values.get("title", "")) if values.get("named") else "",
            pinned=bool(values.get("pinned")),
            archived=bool(values.get("archived")),
            created=moment(values["created"]),
            updated=moment(values["updated"]),
            turns={turn.id: turn for turn in turns},
            chosen=chosen,
        )
    except (KeyError, ValueError) as error:
        raise FormatError(f"front matter: {error}") from error
    check_tree(conversation, turns)
    return conversation


def turn_text(conversation: Conversation, turn: Turn, heading: str = "", *, parent: bool = False) -> str:
    """One turn with its comment. `heading` comes before its own; with `parent` the comment says what it follows."""
    mark = {"id": turn.id, "role": turn.role, "created": turn.created.isoformat()}
    # A closing `-->` inside would end the comment; ids are ours, but an imported chat's may be anything.
    text = json.dumps({**mark, "parent": turn.parent} if parent else mark).replace(">", "\\u003e")
    lines = [f"<!-- turn {text} -->", *([f"# {_one_line(heading)}"] if heading else []), f"## {speaker(turn)}"]
    if figures := figures_line(conversation, turn):
        lines.append(f"*{figures}*")
    text = _LOOKS_LIKE.sub(r"\\\1", turn.text)
    return "\n".join(lines) + f"\n\n{text}\n\n"


def speaker(turn: Turn) -> str:
    if turn.role == "assistant":
        return _one_line(turn.attribution.model) if turn.attribution and turn.attribution.model else "Answer"
    return "You" if turn.role == "user" else "System"


def figures_line(conversation: Conversation, turn: Turn) -> str:
    """Which version it is, and how an answer came to be, in one line; empty when there is nothing to say."""
    parts: list[str] = []
    siblings = conversation.siblings(turn.id)
    if len(siblings) > 1:
        parts.append(f"version {siblings.index(turn) + 1} of {len(siblings)}")
    if a := turn.attribution:
        adapter = "" if a.adapter in ("", "none") else f"adapter {a.adapter}"
        parts += [part for part in (a.tier, adapter, a.routing) if part and part != a.model]
        parts += [units.tokens_per_second(a.tok_s)] if a.tok_s else []
        parts += [f"first token {units.seconds(a.ttft_s)}"] if a.ttft_s else []
        parts += [f"{units.count(a.completion_tokens)} tokens"] if a.completion_tokens else []
        parts += [f"reused {a.reused_tokens:,} of {a.prompt_tokens:,} tokens"] if a.reused_tokens else []
        parts += [f"without the {a.dropped_messages:,} oldest messages"] if a.dropped_messages else []
        parts += [f"allocator peak {units.size(a.allocator_peak)}"] if a.allocator_peak else []
        parts += [f"temperature {a.sampling.temperature:g}"] if a.completion_tokens else []
        parts += [f"seed {a.seed}"] if a.seed is not None else []
        parts += [f"revision {a.revision[:12]}"] if a.revision else []
        parts += [a.finish_reason] if a.finish_reason not in ("", "stop") else []
    return _one_line(" · ".join(parts))


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _chunks(body: str) -> list[tuple[str, str]]:
    """The JSON of each turn's comment with the text up to the next comment."""
    chunks: list[tuple[str, list[str]]] = []
    for line in body.removesuffix("\n").split("\n"):
        if line.startswith(_END):
            break
        if match := _MARK.fullmatch(line):
            chunks.append((match[1], []))
        elif chunks:
            chunks[-1][1].append(line)
    return [(mark, "\n".join(lines)) for mark, lines in chunks]


def _read_turn(mark: str, chunk: str, parent: str | None) -> Turn:
    try:
        data = json.loads(mark)
        turn_id, role, created = str(data["id"]), data["role"], moment(data["created"])
        parent = data.get("parent", parent)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise FormatError(f"the comment before a turn is damaged: {error}") from error
    if role not in get_args(Role):
        raise FormatError(f"turn {turn_id}: unknown role {role!r}")
    _, empty, text = chunk.partition("\n\n")
    if not empty:
        raise FormatError(f"turn {turn_id}: no empty line after its heading")
    text = _ESCAPED.sub(r"\1", text.removesuffix("\n"))
    return Turn(id=turn_id, parent=parent, role=role, text=text, created=created)
