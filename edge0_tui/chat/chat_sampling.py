"""How one chat chooses its tokens: a preset, changed in single values, over settings and checkpoint."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from engine.protocol import Sampling

OWN = "checkpoint"
"""The preset that takes everything from the checkpoint, whatever the settings say."""
PRESETS: Mapping[str, tuple[str, Mapping[str, float | int]]] = {
    OWN: ("as the checkpoint's makers set it", {}),
    "precise": (
        "close to the likeliest words: facts, code",
        {"temperature": 0.2, "top_k": 20, "top_p": 0.9, "min_p": 0.0},
    ),
    "balanced": (
        "some freedom: explaining, writing",
        {"temperature": 0.7, "top_k": 40, "top_p": 0.95, "min_p": 0.0},
    ),
    "creative": (
        "much freedom: ideas, stories",
        {"temperature": 1.0, "top_k": 0, "top_p": 1.0, "min_p": 0.05},
    ),
}
BOUNDS: Mapping[str, tuple[float, float]] = {
    "temperature": (0.0, 2.0),
    "top_k": (0, 1000),
    "top_p": (0.01, 1.0),
    "min_p": (0.0, 1.0),
    "repetition_penalty": (0.5, 2.0),
    "seed": (0, 2**63 - 1),
    "max_tokens": (1, 131_072),
}
WHOLE = frozenset({"top_k", "seed", "max_tokens"})


@dataclass(frozen=True)
class ChatSampling:
    """`preset` empty: the settings decide. What is None is not changed in this chat."""

    preset: str = ""
    temperature: float | None = None
    top_k: int | None = None
    top_p: float | None = None
    min_p: float | None = None
    repetition_penalty: float | None = None
    seed: int | None = None
    max_tokens: int | None = None

    @property
    def changed(self) -> dict[str, Any]:
        """The single values this chat has of its own."""
        return {name: value for name in BOUNDS if (value := getattr(self, name)) is not None}

    def having(self, name: str, text: str) -> ChatSampling:
        """With one value as typed; empty and `none` take it back. Raises `ValueError` with the reason."""
        return dataclasses.replace(self, **{name: parse(name, text)})

    @property
    def words(self) -> str:
        """`precise · seed 7`, empty where nothing differs from the settings."""
        values = [f"{_WORDS.get(name, name.replace('_', ' '))} {value:g}" for name, value in self.changed.items()]
        return " · ".join([*([self.preset] if self.preset else []), *values])


_WORDS = {"max_tokens": "at most", "repetition_penalty": "penalty"}


def parse(name: str, text: str) -> Any:
    """A typed value of this name, None for none. Raises `ValueError` with the reason."""
    text = text.strip().replace(",", "")
    title = name.replace("_", " ")
    if not text or text.lower() == "none":
        return None
    try:
        value = int(text) if name in WHOLE else float(text)
    except ValueError:
        raise ValueError(f"{title}: {text!r} is no {'whole number' if name in WHOLE else 'number'}") from None
    return check(name, value)


def check(name: str, value: object) -> Any:
    """The value if this name can have it. Raises `ValueError` with the reason."""
    low, high = BOUNDS[name]
    kinds = (int,) if name in WHOLE else (int, float)
    if isinstance(value, bool) or not isinstance(value, kinds):
        raise ValueError(f"{name}: {value!r:.40} is no number of its kind")
    if not low <= value <= high:
        raise ValueError(f"{name.replace('_', ' ')}: {value:g} is not between {low:g} and {high:g}")
    return value if name in WHOLE else float(value)


def resolve(own: Sampling, settings: Mapping[str, Any], chat: ChatSampling) -> Sampling:
    """The sampling of the next reply: the checkpoint's, changed by the settings or the preset, then by the chat."""
    base = {name: value for name, value in settings.items() if value is not None}
    if chat.preset in PRESETS:
        # A preset says how tokens are chosen; how long an answer may be is still the settings' matter.
        kept = {name: value for name, value in base.items() if name == "max_tokens"}
        base = {**kept, **PRESETS[chat.preset][1]} if chat.preset != OWN else {}
    return dataclasses.replace(own, **{**base, **chat.changed})


def to_json(sampling: ChatSampling) -> dict[str, Any]:
    """Only what is set."""
    preset = {"preset": sampling.preset} if sampling.preset else {}
    return {**preset, **sampling.changed}


def from_json(value: object) -> ChatSampling:
    """Raises `ValueError` for anything that `to_json` does not write; a preset unknown here is kept."""
    if not isinstance(value, dict):
        raise ValueError("sampling: an object was expected")
    preset = value.get("preset", "")
    if not isinstance(preset, str) or len(preset) > 40:
        raise ValueError("sampling: the preset is no name")
    return ChatSampling(preset, **{name: check(name, value[name]) for name in BOUNDS if name in value})
