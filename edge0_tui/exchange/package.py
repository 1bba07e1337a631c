"""The JSON of an exported chat: what a JSON export is, and what the other formats carry inside."""

from __future__ import annotations

import json

from edge0_tui.chat import codec
from edge0_tui.chat.conversation import Conversation
from edge0_tui.chat.errors import FormatError

KIND = "edge0-chat"
VERSION = 1


def pack(conversation: Conversation, *, indent: int | None = None) -> str:
    """ASCII alone, so that half characters come back, too."""
    body = {"kind": KIND, "version": VERSION, "conversation": codec.to_json(conversation)}
    return json.dumps(body, indent=indent)


def unpack(text: str) -> Conversation:
    """Raises `FormatError` for anything that `pack` does not give."""
    try:
        body = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"not JSON: {error}") from error
    if not isinstance(body, dict) or body.get("kind") != KIND:
        raise FormatError("JSON, but no chat exported by edge0-tui")
    if body.get("version") != VERSION:
        raise FormatError(f"an export of version {body.get('version')!r:.20}; this edge0-tui reads {VERSION}")
    return codec.from_json(body.get("conversation"))
