"""Operations by which a short template could make a huge value, with the size checked before the work."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable
from typing import Any

from engine.text.limits import MAX_VALUE, LimitExceededError, weigh

_MAX_BITS = 4096
_LONG_NUMBER = re.compile(r"\d{5,}")
_STAR_WIDTH = re.compile(r"%[-+ #0.\d]*\*")
_NESTED_OR_PATH = re.compile(r":[^{}]*\{|\{[^{}:!]*[.\[]")


def _require(characters: int) -> None:
    if characters > MAX_VALUE:
        raise LimitExceededError(f"a value of more than {MAX_VALUE:,} characters")


def multiply(a: Any, b: Any) -> Any:
    """a * b."""
    if isinstance(a, int) and isinstance(b, int):
        _require_bits(a.bit_length() + b.bit_length())
    else:
        for value, times in ((a, b), (b, a)):
            if isinstance(times, int) and not isinstance(value, (int, float)):
                _require(max(times, 0) * max(weigh(value), 1))
    return a * b


def add(a: Any, b: Any) -> Any:
    """a + b."""
    if not (isinstance(a, (int, float)) and isinstance(b, (int, float))):
        _require(weigh(a) + weigh(b))
    return a + b


def power(a: Any, b: Any) -> Any:
    """a ** b."""
    if isinstance(a, int) and isinstance(b, int):
        _require_bits(a.bit_length() * abs(b))
    return a**b


def modulo(a: Any, b: Any) -> Any:
    """a % b, which for text is formatting."""
    if isinstance(a, str):
        if _LONG_NUMBER.search(a) or _STAR_WIDTH.search(a):
            raise LimitExceededError("a format with a computed or very large width")
        _require(len(a) + a.count("%") * (weigh(b) + 1))
    return a % b


def check_braces(pattern: str, values: object) -> None:
    """Before `pattern.format(…)` with these values."""
    if _LONG_NUMBER.search(pattern) or _NESTED_OR_PATH.search(pattern):
        raise LimitExceededError("a format with a computed or very large width, or a path")
    _require(len(pattern) + pattern.count("{") * (weigh(values) + 1))


def replace(text: str, old: str, new: str, count: int | None = None) -> str:
    """text.replace(old, new)."""
    text, old, new = str(text), str(old), str(new)
    _require(len(text) + text.count(old) * len(new))
    return text.replace(old, new, -1 if count is None else count)


def join(separator: str, items: Iterable[Any]) -> str:
    """Items as text, with the separator between them."""
    parts = list(items)
    separator = str(separator)
    _require(weigh(parts) + len(separator) * len(parts))
    return separator.join(map(str, parts))


def _require_bits(bits: int) -> None:
    if bits > _MAX_BITS:
        raise LimitExceededError(f"a number of more than {_MAX_BITS} bits")


OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "*": multiply,
    "+": add,
    "**": power,
    "%": modulo,
    "-": operator.sub,
    "/": operator.truediv,
    "//": operator.floordiv,
}
