"""The head of a transcript: `key: value` lines between two `---`, each value a JSON scalar.

That is a small subset of YAML, so that every tool that knows front matter reads it, and simple enough to be
read here without a YAML parser and its surprises. A value that is no JSON is taken as the text it is.
"""

from __future__ import annotations

import json
import re

from edge0_tui.chat.errors import FormatError

Value = str | int | float | bool | None
_FENCE = "---"
_LINE = re.compile(r"([a-z_]+):[ \t]*(.*)")
_HALVES = re.compile("[\ud800-\udfff]")


def write(values: dict[str, Value]) -> str:
    """The head with its closing line and an empty line."""
    lines = [f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in values.items()]
    return "\n".join([_FENCE, *lines, _FENCE, "", ""])


def read(text: str) -> tuple[dict[str, Value], str]:
    """The values and what follows them. Raises `FormatError` where there is no whole head."""
    lines = text.split("\n")
    if lines[0].rstrip() != _FENCE:
        raise FormatError("line 1: no front matter")
    values: dict[str, Value] = {}
    for number, line in enumerate(lines[1:], start=2):
        if line.rstrip() == _FENCE:
            return values, "\n".join(lines[number:]).removeprefix("\n")
        if not line.strip():
            continue
        match = _LINE.fullmatch(line.rstrip())
        if match is None:
            raise FormatError(f"line {number}: `key: value` was expected")
        values[match[1]] = _value(match[2])
    raise FormatError("the front matter has no end")


def _value(text: str) -> Value:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text.strip("'\"")
    return value if isinstance(value, str | int | float | bool | None) else text


def encodable(text: str) -> str:
    """Halves of surrogate pairs, which UTF-8 cannot hold, as the replacement character."""
    return _HALVES.sub("\ufffd", text)
