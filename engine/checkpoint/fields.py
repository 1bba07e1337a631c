"""Typed, bounded access to a JSON object; every refusal names the file and the key."""

from __future__ import annotations

from math import isfinite
from pathlib import Path

from engine.checkpoint.faults import fault, shown
from engine.checkpoint.strict_json import JsonObject
from engine.errors import CheckpointError

MAX_INT = 1 << 31
UNSUPPORTED = "This variant of the architecture is not supported."


class Fields:
    """A section of a JSON file. A key that is absent or null takes the default; without default it is required."""

    def __init__(self, raw: JsonObject, path: Path, where: str = "") -> None:
        self.raw = raw
        self.path = path
        self.where = where

    def fault(self, key: str, why: str, hint: str = "") -> CheckpointError:
        return fault(self.path, f"{shown(self.where + key)} {why}", hint=hint or UNSUPPORTED)

    def has(self, key: str) -> bool:
        return self.raw.get(key) is not None

    def section(self, key: str) -> Fields:
        """The object under `key`, empty when absent."""
        value = self.raw.get(key)
        if value is None:
            value = {}
        if not isinstance(value, dict):
            raise self.fault(key, "is not an object")
        return Fields(value, self.path, f"{self.where}{key}.")

    def integer(self, key: str, default: int | None = None, low: int = 1, high: int = MAX_INT) -> int:
        value = self._value(key, default)
        if type(value) is not int or not low <= value <= high:
            raise self.fault(key, f"is {shown(repr(value))}, not a whole number from {low} to {high}")
        return value

    def number(self, key: str, default: float | None = None, low: float = 0.0, high: float = 1e12) -> float:
        """A finite number, low < value ≤ high."""
        value = self._value(key, default)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not low < value <= high:
            raise self.fault(key, f"is {shown(repr(value))}, not a number above {low:g} and up to {high:g}")
        if not isfinite(float(value)):
            raise self.fault(key, "is not finite")
        return float(value)

    def flag(self, key: str, default: bool | None = None) -> bool:
        value = self._value(key, default)
        if not isinstance(value, bool):
            raise self.fault(key, f"is {shown(repr(value))}, not true or false")
        return value

    def text(self, key: str, default: str | None = None) -> str:
        value = self._value(key, default)
        if not isinstance(value, str):
            raise self.fault(key, f"is {shown(repr(value))}, not a text")
        return value

    def integers(self, key: str) -> tuple[int, ...]:
        """A whole number or a list of them, none when absent: how token ids are given."""
        value = self.raw.get(key)
        values = [] if value is None else value if isinstance(value, list) else [value]
        if not all(type(item) is int and 0 <= item <= MAX_INT for item in values):
            raise self.fault(key, "is not a token id or a list of them")
        return tuple(values)

    def only(self, key: str, *accepted: object) -> None:
        """Refuse by name any value but `accepted`; an absent key is accepted."""
        value = self.raw.get(key)
        if value is not None and value not in accepted:
            raise self.fault(key, f"is {shown(repr(value))}; supported: {', '.join(map(repr, accepted))}")

    def _value(self, key: str, default: object) -> object:
        value = self.raw.get(key)
        if value is None:
            value = default
        if value is None:
            raise self.fault(key, "is missing", "The configuration is incomplete or of another model.")
        return value
