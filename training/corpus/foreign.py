"""Foreign questions: written ones, filled templates, and invented words."""

from __future__ import annotations

import random
from functools import cache

from training.corpus.expand import fill, normalise, tidy
from training.corpus.load import held_phrases, items, lines, read

LISTS = {
    "n": "things",
    "p": "places",
    "w": "people",
    "v": "tasks",
    "t": "texts",
    "c": "languages",
    "f": "foods",
    "x": "words",
    "a": "adjectives",
    "b": "verbs",
}
SYLLABLES = [
    "ba", "re", "mo", "ti", "lan", "cor", "ves", "pi", "gra", "dul", "sen", "tor", "mi", "fa", "quo",
    "zel", "nar", "ith", "ump", "eck", "osh", "ard", "ine", "ul",
]  # fmt: skip


@cache
def answer() -> str:
    """The honest answer."""
    return str(read("foreign")["answer"])


@cache
def must() -> tuple[str, ...]:
    """What the honest answer has to contain."""
    return tuple(items(read("foreign")["must"]))


@cache
def written() -> tuple[str, ...]:
    """The foreign questions that are written out."""
    return tuple(lines(read("foreign")["questions"]))


@cache
def _templates() -> tuple[list[str], dict[str, list[str]]]:
    data = read("foreign")
    words = {short: items(data[name]) for short, name in LISTS.items()}
    return lines(data["templates"]), words | {"d": [str(n) for n in (*range(2, 100), 144, 1990, 2018, 2022)]}


def _invented(rng: random.Random) -> str:
    return "".join(rng.choice(SYLLABLES) for _ in range(rng.randint(2, 4)))


def draw(rng: random.Random) -> str:
    """A foreign question for training, never a held-out one."""
    while True:
        kind = rng.random()
        templates, words = _templates()
        if kind < 0.33:
            text = rng.choice(written())
        elif kind < 0.9:
            text = fill(rng.choice(templates), words, rng)
            if rng.random() < 0.25:
                parts = text.split()
                parts[rng.randrange(len(parts) // 2, len(parts))] = _invented(rng)
                text = tidy(" ".join(parts))
        else:
            text = fill(templates[0], {**words, "n": [f"{rng.choice(('a ', 'the ', ''))}{_invented(rng)}"]}, rng)
        if normalise(text) not in held_phrases():
            return text
