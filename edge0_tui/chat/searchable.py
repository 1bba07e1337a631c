"""The words of one chat, for the search: every branch, and what somebody wrote into the file by hand."""

from __future__ import annotations

import json
from pathlib import Path

from edge0_tui.chat import files, sidecar
from edge0_tui.chat.errors import StoreError
from edge0_tui.chat.front_matter import encodable

_MARK = "<!-- turn "


def text_of(path: Path) -> str:
    """Turns one below the other. Never fails: a chat that cannot be read has no words."""
    try:
        data, markdown = files.read(sidecar.path_of(path)), files.read(path)
    except StoreError:
        return ""
    whole = _turns(data, markdown) if data is not None else None
    return encodable(whole if whole is not None else _shown(markdown or b""))


def _turns(data: bytes, markdown: bytes | None) -> str | None:
    """From the sidecar, read as far as the search needs it; `open` is the one that checks it."""
    try:
        body = json.loads(data.decode("utf-8", "surrogatepass"))
        texts = [turn["text"] for turn in body["conversation"]["turns"]]
        texts.append(body["conversation"]["draft"])
        if markdown is not None and files.digest(markdown) not in body["markdown"]:
            texts.append(_shown(markdown))
        return "\n".join(text for text in texts if text)
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def _shown(markdown: bytes) -> str:
    lines = markdown.decode("utf-8", "replace").split("\n")
    return "\n".join(line for line in lines if not line.startswith(_MARK))
