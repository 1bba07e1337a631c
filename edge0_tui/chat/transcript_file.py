"""A conversation as one Markdown file that reads well anywhere.

It shows the active path. Before each turn stands a comment with the turn's identity, which no viewer displays:

    <!-- turn {"id": "5f0c…", "role": "user", "created": "2026-11-30T09:12:44.101+00:00"} -->
    ## You

    What is the allocator peak?

The text of a turn is everything between the first empty line after the comment and the empty line before the
next comment, byte for byte; a line of the text that looks like such a comment gets a backslash in front. So the
path can be read back without the sidecar. Other branches, thinking, figures, the system prompt and the draft
are in the sidecar only.
"""

from __future__ import annotations

import json
import re
from datetime import datetime
from typing import get_args

from edge0_tui import units
from edge0_tui.chat import front_matter
from edge0_tui.chat.conversation import Conversation
from edge0_tui.chat.errors import FormatError
from edge0_tui.chat.front_matter import Value
from edge0_tui.chat.turn import Turn
from engine.protocol import Role

_MARK = re.compile(r"<!-- turn (\{.*\}) -->")
_LOOKS_LIKE = re.compile(r"^(\\*)(?=<!-- turn )", re.MULTILINE)
_ESCAPED = re.compile(r"^\\(\\*)(?=<!-- turn )", re.MULTILINE)


def write(conversation: Conversation) -> bytes:
    """The whole file. Half characters, which no file can hold, are the only thing that is not kept."""
    heading = f"# {_one_line(conversation.title) or 'Untitled'}\n\n"
    turns = "".join(_turn(conversation, turn) for turn in conversation.path)
    text = front_matter.write(head(conversation)) + heading + turns
    return front_matter.encodable(text).encode()


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
    """The active path, from Markdown alone. Raises `FormatError`."""
    values, body = front_matter.read(data.decode("utf-8", "replace"))
    turns: list[Turn] = []
    for mark, chunk in _chunks(body):
        turns.append(_read_turn(mark, chunk, turns[-1].id if turns else None))
    try:
        return Conversation(
            id=str(values["id"]),
            name=str(values.get("title", "")) if values.get("named") else "",
            pinned=bool(values.get("pinned")),
            archived=bool(values.get("archived")),
            created=datetime.fromisoformat(str(values["created"])),
            updated=datetime.fromisoformat(str(values["updated"])),
            turns={turn.id: turn for turn in turns},
            chosen={turn.parent: turn.id for turn in turns},
        )
    except (KeyError, ValueError) as error:
        raise FormatError(f"front matter: {error}") from error


def _turn(conversation: Conversation, turn: Turn) -> str:
    mark = json.dumps({"id": turn.id, "role": turn.role, "created": turn.created.isoformat()})
    lines = [f"<!-- turn {mark} -->", f"## {_speaker(turn)}"]
    if figures := _figures(conversation, turn):
        lines.append(f"*{figures}*")
    text = _LOOKS_LIKE.sub(r"\\\1", turn.text)
    return "\n".join(lines) + f"\n\n{text}\n\n"


def _speaker(turn: Turn) -> str:
    if turn.role == "assistant":
        return _one_line(turn.attribution.model) if turn.attribution and turn.attribution.model else "Answer"
    return "You" if turn.role == "user" else "System"


def _figures(conversation: Conversation, turn: Turn) -> str:
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
        parts += [a.finish_reason] if a.finish_reason not in ("", "stop") else []
    return _one_line(" · ".join(parts))


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _chunks(body: str) -> list[tuple[str, str]]:
    """The JSON of each turn's comment with the text up to the next comment."""
    chunks: list[tuple[str, list[str]]] = []
    for line in body.removesuffix("\n").split("\n"):
        if match := _MARK.fullmatch(line):
            chunks.append((match[1], []))
        elif chunks:
            chunks[-1][1].append(line)
    return [(mark, "\n".join(lines)) for mark, lines in chunks]


def _read_turn(mark: str, chunk: str, parent: str | None) -> Turn:
    try:
        data = json.loads(mark)
        turn_id, role, created = str(data["id"]), data["role"], datetime.fromisoformat(data["created"])
    except (ValueError, KeyError, TypeError) as error:
        raise FormatError(f"the comment before a turn is damaged: {error}") from error
    if role not in get_args(Role):
        raise FormatError(f"turn {turn_id}: unknown role {role!r}")
    _, empty, text = chunk.partition("\n\n")
    if not empty:
        raise FormatError(f"turn {turn_id}: no empty line after its heading")
    text = _ESCAPED.sub(r"\1", text.removesuffix("\n"))
    return Turn(id=turn_id, parent=parent, role=role, text=text, created=created)
