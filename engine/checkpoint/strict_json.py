"""JSON from files nobody vouches for: bounded, no duplicate keys, no NaN."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NoReturn

from engine.checkpoint.faults import fault, shown
from engine.checkpoint.regular import read_whole

MAX_JSON_BYTES = 4 << 20

JsonObject = dict[str, object]


class _RejectedError(ValueError):
    """What the standard parser accepts and we do not."""


def _pairs(pairs: list[tuple[str, object]]) -> JsonObject:
    result = dict(pairs)
    if len(result) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise _RejectedError(f"the key {shown(key)} appears twice")
            seen.add(key)
    return result


def _constant(text: str) -> NoReturn:
    raise _RejectedError(f"the value {text} is not JSON")


def parse_object(data: bytes | str, path: Path, what: str) -> JsonObject:
    """`data` as a JSON object; `what` names it in messages. Raises CheckpointError naming `path`."""
    try:
        text = data if isinstance(data, str) else data.decode("utf-8")
        value = json.loads(text, object_pairs_hook=_pairs, parse_constant=_constant)
    except UnicodeDecodeError:
        raise fault(path, f"{what} is not UTF-8") from None
    except RecursionError:
        raise fault(path, f"{what} is nested too deeply") from None
    except _RejectedError as error:
        raise fault(path, f"{what}: {error}") from None
    except json.JSONDecodeError as error:
        raise fault(path, f"{what} is not valid JSON ({error.msg} at character {error.pos})") from None
    except ValueError:
        raise fault(path, f"{what} holds a number with too many digits") from None
    if not isinstance(value, dict):
        raise fault(path, f"{what} is not a JSON object")
    return value


def read_object(path: Path, limit: int = MAX_JSON_BYTES) -> JsonObject:
    """The JSON object in the file `path` of at most `limit` bytes. Raises CheckpointError."""
    return parse_object(read_whole(path, limit), path, "the file")
