"""The keymap file: actions and their keys as TOML; every mistake is named and the rest is used."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from edge0_tui.atomic_file import write_atomically
from edge0_tui.keymap import Keymap, clashes
from edge0_tui.keys import BY_ID

NAME = "keymap.toml"
_MAX_BYTES = 64 * 1024
_MAX_KEYS = 8
_HEAD = '# Keys of edge0-tui, as the screen "Keys" wrote them. Actions that are not here have their usual keys.\n'


@dataclass(frozen=True)
class KeymapReading:
    """What came of reading a file: a keymap to use, and what is wrong with it (then it is left as it is)."""

    keymap: Keymap = field(default_factory=Keymap)
    errors: tuple[str, ...] = ()


def read(path: Path) -> KeymapReading:
    """The keymap in `path`; what is missing or wrong there has its usual keys."""
    try:
        with path.open("rb") as file:
            data = file.read(_MAX_BYTES + 1)
        if len(data) > _MAX_BYTES:
            return KeymapReading(errors=(f"{path}: larger than any keymap",))
        body = tomllib.loads(data.decode())
    except FileNotFoundError:
        return KeymapReading()
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        return KeymapReading(errors=(f"{path}: {error}",))
    return _apply(body)


def write(path: Path, keymap: Keymap) -> None:
    """Write what differs from the usual keys, atomically; nothing to write removes the file. Raises `OSError`."""
    import tomli_w

    if not keymap.changed:
        path.unlink(missing_ok=True)
        return
    body = {id: list(keys) for id, keys in sorted(keymap.changed.items())}
    write_atomically(path, (_HEAD + tomli_w.dumps(body)).encode())


def _apply(body: dict[str, Any]) -> KeymapReading:
    from edge0_tui.key_rules import normal, refuse

    keymap, errors = Keymap(), []
    for id, value in body.items():
        if id not in BY_ID:
            errors.append(f"{id}: there is no such action")
            continue
        texts = [value] if isinstance(value, str) else value
        if not isinstance(texts, list) or len(texts) > _MAX_KEYS or not all(isinstance(t, str) for t in texts):
            errors.append(f'{id}: keys were expected, as ["ctrl+g"]')
            continue
        keys = tuple(dict.fromkeys(normal(text) for text in texts))
        action = BY_ID[id]
        problems = [action.fixed] if action.fixed else [why for key in keys if (why := refuse(key, action))]
        if problems:
            errors.append(f"{id}: {'; '.join(problems)}")
        else:
            keymap = keymap.having(id, keys)
    while found := clashes(keymap):
        for key, one, other in found:
            errors.append(f"{key}: both {one.id} and {other.id}")
            for action in (one, other):
                keymap = keymap.having(action.id, action.keys)
    return KeymapReading(keymap, tuple(errors))
