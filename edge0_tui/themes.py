"""Themes as data: TOML files of ours and of the user's, turned into Textual themes."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from textual.color import Color, ColorParseError
from textual.theme import Theme

from edge0_tui.atomic_file import write_atomically

DEFAULT = "tidepool"
WITHOUT_COLOUR = "terminal16"
_COLOURS = (
    "primary",
    "secondary",
    "accent",
    "warning",
    "error",
    "success",
    "foreground",
    "background",
    "surface",
    "panel",
)
_NEEDED = ("primary", "foreground", "background")
_MAX_BYTES = 64 * 1024
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")


class ThemeError(ValueError):
    """A theme file that cannot be used. The message lists everything wrong with it."""


@dataclass(frozen=True)
class Themes:
    """What was found: themes and their titles by name, and one line for each file that is not usable."""

    themes: dict[str, Theme] = field(default_factory=dict)
    titles: dict[str, str] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)


def shipped_directory() -> Path:
    """`edge0_tui/_themes` in an installed wheel, `themes/` beside the package in a source checkout."""
    installed = Path(__file__).parent / "_themes"
    return installed if installed.is_dir() else Path(__file__).parent.parent / "themes"


def load(user_directory: Path | None = None) -> Themes:
    """Our themes and the user's; one of the user's may replace one of ours by its name."""
    found = Themes()
    for directory in (shipped_directory(), user_directory):
        if directory is None or not directory.is_dir():
            continue
        for path in sorted(directory.glob("*.toml")):
            try:
                theme, title = read(path)
            except ThemeError as error:
                found.errors.append(str(error))
                continue
            found.themes[theme.name] = theme
            found.titles[theme.name] = title
    return found


def find(name: str, user_directory: Path | None = None) -> Theme | None:
    """One theme in the file of its name, the user's before ours; None says nothing about themes in other files.

    The first picture needs one theme, and reading all takes longer than is good for a start.
    """
    for directory in (user_directory, shipped_directory()):
        if directory is None or not _NAME.fullmatch(name):
            continue
        try:
            theme, _ = read(directory / f"{name}.toml")
        except ThemeError:
            continue
        if theme.name == name:
            return theme
    return None


def copy_shipped(name: str, user_directory: Path) -> Path:
    """A copy of one of ours among the user's, under a name of its own, to begin from. Raises `ThemeError`."""
    source = shipped_directory() / f"{name}.toml"
    target = user_directory / f"my-{name}.toml"
    if not _NAME.fullmatch(name) or not source.is_file():
        raise ThemeError(f"{name} is not one of ours")
    if target.exists():
        raise ThemeError(f"{target} is there already")
    theme, title = read(source)
    text = source.read_text("utf-8").replace(f'name = "{theme.name}"', f'name = "my-{name}"', 1)
    try:
        write_atomically(target, text.replace(f'title = "{title}"', f'title = "My {title}"', 1).encode())
    except OSError as error:
        raise ThemeError(f"{target}: {error.strerror or error}") from None
    return target


def stamp(directory: Path) -> tuple[tuple[str, int, int], ...]:
    """Differs from an earlier one when a theme file there came, went or changed."""
    found = []
    try:
        for path in directory.glob("*.toml"):
            status = path.stat()
            found.append((path.name, status.st_mtime_ns, status.st_size))
    except OSError:
        return ()
    return tuple(sorted(found))


def read(path: Path) -> tuple[Theme, str]:
    """The theme in one file and its title. Raises `ThemeError`."""
    try:
        with path.open("rb") as file:
            data = file.read(_MAX_BYTES + 1)
        if len(data) > _MAX_BYTES:
            raise ThemeError(f"{path.name}: larger than any theme")
        body = tomllib.loads(data.decode())
    except OSError as error:
        raise ThemeError(f"{path.name}: {error.strerror or error}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ThemeError(f"{path.name}: {error}") from None
    problems: list[str] = []
    name = body.get("name", path.stem)
    title = body.get("title", name)
    if not isinstance(name, str) or not isinstance(title, str) or not title.isprintable():
        raise ThemeError(f"{path.name}: name and title are text")
    if not _NAME.fullmatch(name):
        raise ThemeError(f"{path.name}: name {name!r} is not made of a-z, 0-9, - and _")
    colours = _table(body, "colors", problems)
    variables = _table(body, "variables", problems)
    dark, ansi = body.get("dark", True), body.get("ansi", False)
    problems += [
        f"{key} is true or false" for key, value in (("dark", dark), ("ansi", ansi)) if value is not bool(value)
    ]
    problems += [f"{key}: there is no such key" for key in sorted(body.keys() - _TOP)]
    problems += [f"colors.{key}: there is no such colour" for key in sorted(colours.keys() - set(_COLOURS))]
    problems += [f"colors.{key} is missing" for key in _NEEDED if key not in colours]
    problems += [f"colors.{key}: {text!r} is not a colour" for key, text in colours.items() if not _is_colour(text)]
    problems += [
        f"variables.{key}: {text!r} is not a colour or style"
        for key, text in variables.items()
        if not key.endswith("-style") and not _is_colour(text)
    ]
    if problems:
        raise ThemeError(f"{path.name}: {'; '.join(problems)}")
    return Theme(name=name, dark=dark, ansi=ansi, variables=variables, **colours), title


_TOP = {"name", "title", "dark", "ansi", "colors", "variables"}


def _table(body: dict[str, Any], key: str, problems: list[str]) -> dict[str, Any]:
    table = body.get(key, {})
    if isinstance(table, dict) and all(isinstance(value, str) for value in table.values()):
        return table
    problems.append(f"[{key}] holds names and texts")
    return {}


def _is_colour(text: str) -> bool:
    try:
        Color.parse(text.split()[0] if text else text)
    except ColorParseError:
        return False
    return True
