"""The JSON beside each transcript: the whole tree, and which Markdown was written from it.

It is written before the Markdown and names the digests of the new and of the previous one. So a crash between
the two writes does not look like a hand edit, and a hand edit never looks like our own writing.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from edge0_tui.chat import codec
from edge0_tui.chat.conversation import Conversation
from edge0_tui.chat.errors import FormatError

FORMAT = 1


@dataclass(frozen=True)
class Sidecar:
    conversation: Conversation
    markdown: tuple[str, ...]


def path_of(markdown: Path) -> Path:
    return markdown.with_suffix(".json")


def write(sidecar: Sidecar) -> bytes:
    conversation = codec.to_json(sidecar.conversation)
    turns = ",\n".join(map(_line, conversation.pop("turns")))
    head = {"format": FORMAT, "markdown": list(sidecar.markdown)}
    # A line for each turn: nearly as readable as indented, and quicker to write at each autosave of a long chat.
    text = f'{_line(head)[:-1]},\n"conversation": {_line(conversation)[:-1]},\n"turns": [\n{turns}\n]}}}}\n'
    # Half characters go into the file as they are, so that even they come back.
    return text.encode("utf-8", "surrogatepass")


def _line(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def read(data: bytes) -> Sidecar:
    """Raises `FormatError` for anything that `write` does not give."""
    try:
        body = json.loads(data.decode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError) as error:
        raise FormatError(f"not JSON: {error}") from error
    if not isinstance(body, dict) or body.get("format") != FORMAT:
        raise FormatError("not a transcript of this version")
    digests = body.get("markdown")
    if not isinstance(digests, list) or not all(isinstance(item, str) for item in digests):
        raise FormatError("it does not say which Markdown belongs to it")
    return Sidecar(codec.from_json(body.get("conversation")), tuple(digests))
