"""How a chat begins, from the head of its Markdown: enough to recognise it by."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from edge0_tui.chat import front_matter
from edge0_tui.chat.errors import FormatError, StoreError

_HEAD = 24 * 1024
_MARK = re.compile(r"<!-- turn \{.*\} -->")


@dataclass(frozen=True)
class Said:
    """One turn: who, and the text as far as the head of the file has it."""

    speaker: str
    text: str


def preview(path: Path) -> list[Said]:
    """The first turns on the active path. Raises `StoreError`, also for what is no transcript."""
    try:
        with path.open("rb") as file:
            _, body = front_matter.read(file.read(_HEAD).decode("utf-8", "replace"))
    except OSError as error:
        raise StoreError.at(path, error) from error
    except FormatError as error:
        raise StoreError.because(path, str(error)) from error
    result: list[Said] = []
    for part in _MARK.split(body)[1:]:
        heading, _, text = part.partition("\n\n")
        speaker = heading.strip().split("\n")[0].removeprefix("## ")
        result.append(Said(speaker, text.strip("\n")))
    return result
