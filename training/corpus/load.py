"""Reads the question files and marks which phrasings are held out."""

from __future__ import annotations

import random
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from training.corpus.expand import expand, normalise

HERE = Path(__file__).parent
FILES = ("keys", "talk", "numbers", "engine", "tiers", "commands", "files")
MOST = 90


@dataclass(frozen=True)
class Question:
    """One thing people ask: its phrasings, its answer, and what an answer must contain."""

    id: str
    train: tuple[str, ...]
    held: tuple[str, ...]
    answer: str
    must: tuple[str, ...]

    @property
    def main(self) -> str:
        """The phrasing that stands for the question."""
        return self.train[0]


def read(name: str) -> dict[str, Any]:
    """One corpus file."""
    return tomllib.loads((HERE / f"{name}.toml").read_text(encoding="utf-8"))


def lines(text: str) -> list[str]:
    """The non-empty lines of a block."""
    return [line.strip() for line in text.splitlines() if line.strip()]


def items(text: str) -> list[str]:
    """The parts of a list separated by semicolons."""
    return [item.strip() for item in text.split(";") if item.strip()]


def _templated(entry: dict[str, Any], templates: dict[str, str]) -> list[str]:
    out: list[str] = []
    for kind, block in templates.items():
        patterns = [text for line in lines(block) for text in expand(line)]
        out += [p.replace("{x}", x) for p in patterns for x in items(entry.get(kind, ""))]
    return out


def _sample(texts: list[str], most: int, rng: random.Random) -> list[str]:
    return texts if len(texts) <= most else [texts[0], *rng.sample(texts[1:], most - 1)]


@cache
def held_phrases() -> frozenset[str]:
    """All held-out phrasings of all questions, normalised."""
    out = [h for name in FILES for entry in read(name).values() for h in lines(entry["held"])]
    out += [f["held"] for f in read("dialogues")["follow"]]
    return frozenset(normalise(h) for h in [*out, *foreign_held()])


@cache
def foreign_held() -> tuple[str, ...]:
    """Foreign questions that are never trained on."""
    return tuple(lines((HERE / "foreign_held.txt").read_text(encoding="utf-8")))


@cache
def questions() -> tuple[Question, ...]:
    """Every question, phrasings expanded, held-out phrasings kept out of the training ones."""
    templates: dict[str, str] = read("templates")
    out = []
    for name in FILES:
        for key, entry in read(name).items():
            rng = random.Random(f"phrasings {key}")
            asked = [text for line in lines(entry.get("ask", "")) for text in expand(line)]
            made = _templated(entry, templates)
            texts = _sample(made, MOST, rng) + _sample(asked, MOST, rng)
            unique = {normalise(t): t for t in reversed(texts) if normalise(t) not in held_phrases()}
            train = tuple(reversed(unique.values()))
            held = tuple(lines(entry["held"]))
            out.append(Question(key, train, held, entry["answer"], tuple(items(entry["must"]))))
    return tuple(out)
