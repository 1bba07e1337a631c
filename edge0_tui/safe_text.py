"""Text from a model, a file or a person, made harmless for a terminal: nothing in it can move the cursor."""

from __future__ import annotations

import re

_LINE_BREAKS = re.compile("\r\n?|[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
# Escape and other control characters; halves of surrogate pairs, which cannot be encoded; and the overrides
# of writing direction that make text read differently from what it is.
_HARMFUL = re.compile("[\x00-\x08\x0e-\x1b\x1f\x7f-\x9f\ud800-\udfff\u202a-\u202e\u2066-\u2069]")


def one_break(text: str) -> str:
    """Every way of ending a line becomes a newline, so that all parts of the program count the same lines."""
    return _LINE_BREAKS.sub("\n", text)


def harmless(text: str) -> str:
    """What could steer a terminal becomes the replacement character; newlines and tabs stay."""
    return _HARMFUL.sub("\ufffd", one_break(text))
