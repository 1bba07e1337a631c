"""The settings file: read with every mistake named, written whole, and never written over when it has mistakes."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from edge0_tui.atomic_file import write_atomically
from edge0_tui.settings import Settings
from edge0_tui.settings_schema import SettingError, keys

_MAX_BYTES = 1 << 20


@dataclass(frozen=True)
class Reading:
    """What came of reading a file: settings to use, and what is wrong with it (then it is left as it is)."""

    settings: Settings = field(default_factory=Settings)
    errors: list[str] = field(default_factory=list)


def read(path: Path) -> Reading:
    """The settings in `path`; what is missing or wrong there has its default."""
    try:
        with path.open("rb") as file:
            data = file.read(_MAX_BYTES + 1)
        if len(data) > _MAX_BYTES:
            return Reading(errors=[f"{path}: larger than any settings file"])
        body = tomllib.loads(data.decode())
    except FileNotFoundError:
        return Reading()
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        return Reading(errors=[f"{path}: {error}"])
    return _apply(body)


def _apply(body: dict[str, Any]) -> Reading:
    settings, errors = Settings(), []
    known = {(key.section, key.name): key for key in keys()}
    sections = {section for section, _ in known}
    for section, values in body.items():
        if section not in sections:
            errors.append(f"{section}: there is no such section")
            continue
        if not isinstance(values, dict):
            errors.append(f"{section}: a section was expected, as [{section}]")
            continue
        for name, value in values.items():
            key = known.get((section, name))
            if key is None:
                errors.append(f"{section}.{name}: there is no such setting")
                continue
            try:
                settings = key.replaced(settings, value)
            except SettingError as error:
                errors.append(str(error))
    return Reading(settings, errors)


def write(path: Path, settings: Settings) -> None:
    """Write what differs from the defaults, atomically. Raises `OSError`."""
    import tomli_w

    body: dict[str, dict[str, Any]] = {}
    for key in keys():
        value = key.of(settings)
        if value is not None and value != key.default:
            body.setdefault(key.section, {})[key.name] = value
    write_atomically(path, tomli_w.dumps(body).encode())
