"""Walking the settings schema: reading, checking and replacing one key at a time."""

from __future__ import annotations

import dataclasses
import os
import types
import typing
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from edge0_tui import units
from edge0_tui.settings import Option, Settings


class SettingError(ValueError):
    """A value that a setting cannot have. The message begins with the key."""


@dataclass(frozen=True)
class Key:
    """One setting: where it is, what it may be."""

    section: str
    section_title: str
    name: str
    kind: type
    optional: bool
    default: Any
    option: Option

    @property
    def path(self) -> str:
        """As error messages and documents write it: `sampling.temperature`."""
        return f"{self.section}.{self.name}"

    def check(self, value: object) -> Any:
        """`value` as this setting holds it, or `SettingError`."""
        if value is None:
            if self.optional:
                return None
            raise SettingError(f"{self.path}: a value is needed")
        if self.kind is tuple:
            return self._check_texts(value)
        if self.kind is float and isinstance(value, int) and not isinstance(value, bool):
            value = float(value)
        if not isinstance(value, self.kind) or (self.kind is int and isinstance(value, bool)):
            words = {bool: "true or false", int: "a whole number", float: "a number", str: "text"}
            raise SettingError(f"{self.path}: {value!r} is not {words[self.kind]}")
        option = self.option
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            # Written so that NaN, which compares false with everything, is refused too.
            if option.low is not None and not value >= option.low:
                raise SettingError(f"{self.path}: {value:g} is below {option.low:g}")
            if option.high is not None and not value <= option.high:
                raise SettingError(f"{self.path}: {value:g} is above {option.high:g}")
        if option.choices and value not in option.choices:
            raise SettingError(f"{self.path}: {value!r} is not one of {', '.join(option.choices)}")
        if option.kind == "size" and value:
            try:
                units.parse_size(str(value))
            except ValueError as error:
                raise SettingError(f"{self.path}: {error}") from None
        return value

    def _check_texts(self, value: object) -> tuple[str, ...]:
        if not isinstance(value, list | tuple) or not all(isinstance(item, str) and item for item in value):
            raise SettingError(f"{self.path}: {value!r} is not a list of texts")
        return tuple(value)

    def text(self, value: Any) -> str:
        """A value as `parse` reads it."""
        if value is None:
            return ""
        if isinstance(value, tuple):
            return os.pathsep.join(value)
        return f"{value:g}" if isinstance(value, float) else str(value)

    def parse(self, text: str) -> Any:
        """What a person typed, as a value of this setting, or `SettingError`."""
        text = text.strip()
        if not text and self.optional:
            return None
        if self.kind is tuple:
            return self.check([item.strip() for item in text.split(os.pathsep) if item.strip()])
        if self.kind in (int, float):
            try:
                return self.check(self.kind(text.replace(",", "")))
            except ValueError as error:
                if isinstance(error, SettingError):
                    raise
                word = "whole number" if self.kind is int else "number"
                raise SettingError(f"{self.path}: {text!r} is not a {word}") from None
        return self.check(text)

    def of(self, settings: Settings) -> Any:
        """This setting's value in `settings`."""
        return getattr(getattr(settings, self.section), self.name)

    def replaced(self, settings: Settings, value: object) -> Settings:
        """`settings` with this one changed, checked."""
        section = dataclasses.replace(getattr(settings, self.section), **{self.name: self.check(value)})
        return dataclasses.replace(settings, **{self.section: section})


def keys() -> Iterator[Key]:
    """Every setting, in the order of the schema."""
    sections = typing.get_type_hints(Settings)
    for section in dataclasses.fields(Settings):
        cls = sections[section.name]
        hints = typing.get_type_hints(cls)
        for item in dataclasses.fields(cls):
            kind, optional = _plain(hints[item.name])
            title = (cls.__doc__ or section.name).split(".")[0]
            option: Option = item.metadata["option"]
            yield Key(section.name, title, item.name, kind, optional, item.default, option)


def _plain(hint: Any) -> tuple[type, bool]:
    """The type inside an optional annotation, and whether it was optional."""
    if typing.get_origin(hint) in (types.UnionType, typing.Union):
        inner = [arg for arg in typing.get_args(hint) if arg is not type(None)]
        return inner[0], True
    return typing.get_origin(hint) or hint, False
