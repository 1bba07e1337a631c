"""Messages of `engine.protocol` as lines of JSON, read strictly."""

from __future__ import annotations

import dataclasses
import json
import types
import typing
from typing import Any, Literal, Union

from engine.protocol import Event, Request

_TYPES: dict[str, type[Any]] = {cls.__name__: cls for union in (Request, Event) for cls in typing.get_args(union)}
MAX_LINE = 64 * 1024 * 1024


class ProtocolError(ValueError):
    """A line that is not a message of this protocol."""


def encode(message: Request | Event) -> bytes:
    """One line, ending in a newline."""
    body = {"type": type(message).__name__, **dataclasses.asdict(message)}
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    # A lone surrogate has no UTF-8; the JSON escape carries it through unchanged.
    return text.encode(errors="backslashreplace") + b"\n"


def decode(line: bytes | str) -> Request | Event:
    """The message in one line. Raises `ProtocolError` naming the field that does not fit."""
    try:
        body = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ProtocolError(f"not JSON: {error}") from None
    kind = body.get("type") if isinstance(body, dict) else None
    if not isinstance(kind, str) or kind not in _TYPES:
        raise ProtocolError("not a message of this protocol: " + str(line)[:80])
    cls = _TYPES[body.pop("type")]
    return typing.cast("Request | Event", _build(cls, body, cls.__name__))


_HINTS: dict[type[Any], dict[str, Any]] = {}


def _hints(cls: type[Any]) -> dict[str, Any]:
    if cls not in _HINTS:
        _HINTS[cls] = typing.get_type_hints(cls)
    return _HINTS[cls]


def _build(kind: Any, value: Any, where: str) -> Any:
    """`value` (parsed JSON) as an instance of the annotation `kind`."""
    origin, args = typing.get_origin(kind), typing.get_args(kind)
    if dataclasses.is_dataclass(kind):
        if not isinstance(value, dict):
            raise ProtocolError(f"{where}: an object was expected")
        hints = _hints(typing.cast("type[Any]", kind))
        unknown = value.keys() - hints.keys()
        if unknown:
            raise ProtocolError(f"{where}: unknown field {sorted(unknown)[0]!r}")
        try:
            return typing.cast("type[Any]", kind)(
                **{name: _build(hints[name], item, f"{where}.{name}") for name, item in value.items()}
            )
        except TypeError as error:
            raise ProtocolError(f"{where}: {error}") from None
    if origin in (Union, types.UnionType):
        if value is None and type(None) in args:
            return None
        return _build(next(arg for arg in args if arg is not type(None)), value, where)
    if origin is list:
        if not isinstance(value, list):
            raise ProtocolError(f"{where}: a list was expected")
        return [_build(args[0], item, f"{where}[{index}]") for index, item in enumerate(value)]
    if origin is dict:
        if not isinstance(value, dict):
            raise ProtocolError(f"{where}: an object was expected")
        return {str(key): _build(args[1], item, f"{where}.{key}") for key, item in value.items()}
    if origin is Literal:
        if value not in args:
            raise ProtocolError(f"{where}: {value!r} is not one of {', '.join(map(str, args))}")
        return value
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        try:
            return float(value)
        except OverflowError:
            raise ProtocolError(f"{where}: a number too large") from None
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise ProtocolError(f"{where}: {kind.__name__} was expected, not {value!r}")
    return value
