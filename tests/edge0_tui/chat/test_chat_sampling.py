"""Which sampling a reply gets from checkpoint, settings, preset and chat."""

from __future__ import annotations

import math

import pytest

from edge0_tui.chat.chat_sampling import PRESETS, ChatSampling, check, from_json, resolve, to_json
from engine.protocol import Sampling

OWN = Sampling(temperature=0.6, top_k=20, max_tokens=2048)
SETTINGS = {"temperature": 1.5, "top_k": None, "max_tokens": 99}


def test_the_nearer_word_counts() -> None:
    def temperature(preset: str = "", value: float | None = None) -> tuple[float, int, int]:
        found = resolve(OWN, SETTINGS, ChatSampling(preset, temperature=value))
        return found.temperature, found.top_k, found.max_tokens

    assert temperature() == (1.5, 20, 99)
    assert temperature("checkpoint") == (0.6, 20, 2048)
    assert temperature("precise") == (0.2, 20, 99)
    assert temperature("precise", 0.0) == (0.0, 20, 99)
    assert temperature("of a later version") == (1.5, 20, 99)


def test_presets_are_values_that_can_be_used() -> None:
    for _, values in PRESETS.values():
        for name, value in values.items():
            check(name, value)


@pytest.mark.parametrize(
    ("name", "text"), [("seed", "-1"), ("seed", "1.5"), ("temperature", "nan"), ("top_p", "0"), ("max_tokens", "x")]
)
def test_values_out_of_bounds_are_named(name: str, text: str) -> None:
    with pytest.raises(ValueError, match=name.replace("_", " ")):
        ChatSampling().having(name, text)


def test_values_are_typed_taken_back_and_said() -> None:
    chosen = ChatSampling("precise").having("seed", "1,234").having("max_tokens", "50")
    assert chosen.words == "precise · seed 1234 · at most 50"
    assert chosen.having("seed", "none").having("max_tokens", "") == ChatSampling("precise")
    assert from_json(to_json(chosen)) == chosen and to_json(ChatSampling()) == {}


@pytest.mark.parametrize(
    "value", [[], {"preset": 3}, {"preset": "x" * 41}, {"seed": True}, {"temperature": math.inf}, {"top_k": 1.0}]
)
def test_foreign_values_in_a_file_are_refused(value: object) -> None:
    with pytest.raises(ValueError):
        from_json(value)
