"""Conversations as plain JSON values and back, exactly; read strictly, since files are untrusted."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, get_args

from edge0_tui.chat import chat_sampling
from edge0_tui.chat.conversation import Conversation
from edge0_tui.chat.errors import FormatError
from edge0_tui.chat.turn import Attribution, Turn
from engine.protocol import Role, Sampling

_LARGEST = 1e19
"""Beyond any figure and any seed; larger whole numbers cannot be written as floats."""


def to_json(conversation: Conversation) -> dict[str, Any]:
    return {
        "id": conversation.id,
        "name": conversation.name,
        "system": conversation.system,
        "draft": conversation.draft,
        "sampling": chat_sampling.to_json(conversation.sampling),
        "pinned": conversation.pinned,
        "archived": conversation.archived,
        "created": conversation.created.isoformat(),
        "updated": conversation.updated.isoformat(),
        "chosen": [[parent, child] for parent, child in conversation.chosen.items()],
        "turns": [turn_to_json(turn) for turn in conversation.turns.values()],
    }


def turn_to_json(turn: Turn) -> dict[str, Any]:
    attribution = None if turn.attribution is None else _plain(turn.attribution)
    if attribution is not None and turn.attribution is not None:
        attribution["sampling"] = _plain(turn.attribution.sampling)
    return {**_plain(turn), "created": turn.created.isoformat(), "attribution": attribution}


def _plain(value: Turn | Attribution | Sampling) -> dict[str, Any]:
    """The fields as they are; `dataclasses.asdict` copies deeply, which a long chat would wait for at each save."""
    return {name: getattr(value, name) for name in _NAMES[type(value)]}


_NAMES: dict[type, tuple[str, ...]] = {
    kind: tuple(field.name for field in dataclasses.fields(kind)) for kind in (Turn, Attribution, Sampling)
}


def from_json(value: object) -> Conversation:
    """Raises `FormatError` for anything that `to_json` does not write."""
    data = _object(value, "conversation")
    try:
        turns = [turn_from_json(item) for item in data["turns"]]
        conversation = Conversation(
            id=_text(data["id"]),
            name=_text(data["name"]),
            system=_text(data["system"]),
            draft=_text(data["draft"]),
            sampling=chat_sampling.from_json(data.get("sampling", {})),  # not in files of earlier versions
            pinned=bool(data["pinned"]),
            archived=bool(data["archived"]),
            created=moment(data["created"]),
            updated=moment(data["updated"]),
            chosen=dict(data["chosen"]),
            turns={turn.id: turn for turn in turns},
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise FormatError(f"not a conversation: {type(error).__name__} {error}") from error
    check_tree(conversation, turns)
    return conversation


def check_tree(conversation: Conversation, turns: list[Turn]) -> None:
    """Parents come before their children, ids are unique, and what is chosen exists where it is said to be."""
    seen: set[str] = set()
    for turn in turns:
        if turn.id in seen:
            raise FormatError(f"turn {turn.id} is there twice")
        if turn.parent is not None and turn.parent not in seen:
            raise FormatError(f"turn {turn.id} follows {turn.parent}, which is not there")
        seen.add(turn.id)
    for parent, child in conversation.chosen.items():
        if child not in seen or conversation.turns[child].parent != parent:
            raise FormatError(f"turn {child} was chosen below {parent}, but is not there")


def turn_from_json(value: object) -> Turn:
    data = _object(value, "turn")
    if data.get("role") not in get_args(Role):
        raise FormatError(f"unknown role {data.get('role')!r}")
    attribution = data["attribution"]
    return Turn(
        id=_text(data["id"]),
        parent=None if data["parent"] is None else _text(data["parent"]),
        role=data["role"],
        text=_text(data["text"]),
        thinking=_text(data["thinking"]),
        created=moment(data["created"]),
        attribution=None if attribution is None else _attribution(_object(attribution, "attribution")),
    )


def _attribution(data: Mapping[str, Any]) -> Attribution:
    """Fields of a later version are dropped, missing ones get their defaults: figures only, no text."""
    rest = {name: value for name, value in data.items() if name != "sampling"}
    sampling = Sampling(**_fields(_object(data.get("sampling", {}), "sampling"), Sampling()))
    return Attribution(sampling=sampling, **_fields(rest, Attribution()))


def _fields(data: Mapping[str, Any], defaults: Attribution | Sampling) -> dict[str, Any]:
    """The known ones among the values. Each must be of its default's kind: they are formatted as what they are."""
    result: dict[str, Any] = {}
    for name in _NAMES[type(defaults)]:
        if name in data:
            value, default = data[name], getattr(defaults, name)
            fits = isinstance(value, str) if isinstance(default, str) else _number(value, default)
            if not fits:
                raise FormatError(f"{name}: {value!r:.40} is not what belongs there")
            result[name] = value
    return result


def _number(value: object, default: object) -> bool:
    """Numbers that may be unknown have None as their default; some floats were whole numbers when written."""
    if value is None:
        return default is None
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < _LARGEST


def moment(value: object) -> datetime:
    """A date and time; without a zone it is UTC's. Raises `ValueError`."""
    read = datetime.fromisoformat(str(value))
    return read if read.tzinfo else read.replace(tzinfo=UTC)


def _object(value: object, what: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise FormatError(f"{what}: an object was expected")
    return value


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise FormatError(f"text was expected, not {value!r:.40}")
    return value
