"""The filters a chat template may use; each is metered and gives a value of bearable size."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterable
from typing import Any

from jinja2 import Environment, pass_environment
from jinja2.filters import FILTERS, do_indent, make_attrgetter

from engine.text import operations
from engine.text.limits import LimitExceededError, Meter

# fmt: off
_PLAIN = (
    "abs", "capitalize", "count", "d", "default", "dictsort", "first", "float", "groupby", "int", "items",
    "last", "length", "list", "lower", "map", "max", "min", "reject", "rejectattr", "reverse", "select",
    "selectattr", "sort", "title", "trim", "truncate", "unique", "upper", "wordcount",
)
# fmt: on
_NUMERIC = ("batch", "round", "slice")
_MAX_NUMBER = 10_000


def to_json(
    value: Any,
    ensure_ascii: bool = False,
    indent: int | str | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    """JSON as chat templates expect it: no HTML escapes, other scripts kept, keys in their order."""
    if indent is not None and (len(indent) if isinstance(indent, str) else indent) > 16:
        raise LimitExceededError("an indent of more than 16")
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


@pass_environment
def _join(environment: Environment, value: Iterable[Any], d: str = "", attribute: str | int | None = None) -> str:
    get = make_attrgetter(environment, attribute) if attribute is not None else None
    return operations.join(d, map(get, value) if get else value)


def _indent(text: str, width: int | str = 4, first: bool = False, blank: bool = False) -> str:
    size = len(width) if isinstance(width, str) else width
    operations.multiply(" " * min(size, _MAX_NUMBER + 1), str(text).count("\n") + 1)
    return str(do_indent(str(text), _number(width), first, blank))


def _string(value: Any) -> str:
    return str(value)


def _format(pattern: str, *args: Any, **kwargs: Any) -> Any:
    if args and kwargs:
        raise TypeError("format takes positional or named values, not both")
    return operations.modulo(str(pattern), kwargs or args)


def _number(value: Any) -> Any:
    if isinstance(value, int) and abs(value) > _MAX_NUMBER:
        raise LimitExceededError(f"the number {value:,} given to a filter")
    return value


def _small_numbers(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def run(value: Any, *args: Any, **kwargs: Any) -> Any:
        return function(value, *map(_number, args), **{name: _number(item) for name, item in kwargs.items()})

    return run


_OWN: dict[str, Callable[..., Any]] = {
    "tojson": to_json,
    "join": _join,
    "indent": _indent,
    "replace": operations.replace,
    "format": _format,
    # Nothing is ever escaped here, so "safe" text is just text.
    "safe": _string,
    "string": _string,
}


def bounded_filters(meter: Callable[[], Meter]) -> dict[str, Callable[..., Any]]:
    """Name → filter; `meter` gives the account of the rendering in progress."""

    def metered(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def run(*args: Any, **kwargs: Any) -> Any:
            meter().step()
            return meter().hold(function(*args, **kwargs))

        return run

    chosen = {name: FILTERS[name] for name in _PLAIN}
    chosen.update({name: _small_numbers(FILTERS[name]) for name in _NUMERIC})
    chosen.update(_OWN)
    return {name: metered(function) for name, function in chosen.items()}
