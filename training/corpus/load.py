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
MOST = 110


@dataclass(frozen=True)
class Question:
    """One thing people ask: its phrasings, its answer, and what an answer must contain."""

    id: str
    templated: tuple[str, ...]
    written: tuple[tuple[str, ...], ...]
    held: tuple[str, ...]
    answer: str
    must: tuple[str, ...]

    @property
    def train(self) -> tuple[str, ...]:
        """Every training phrasing."""
        return tuple(dict.fromkeys([*self.templated, *(text for line in self.written for text in line)]))

    @property
    def main(self) -> str:
        """The phrasing that stands for the question."""
        return self.train[0]

    def draw(self, rng: random.Random) -> str:
        """A training phrasing: from a template or a written line, each line as likely as the others."""
        if self.templated and (not self.written or rng.random() < 0.35):
            return rng.choice(self.templated)
        return rng.choice(rng.choice(self.written))


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


def _allowed(texts: list[str], rng: random.Random) -> tuple[str, ...]:
    """At most ``MOST`` of the texts, the first among them, none that is held out."""
    texts = [text for text in texts if normalise(text) not in held_phrases()]
    return tuple(texts if len(texts) <= MOST else [texts[0], *rng.sample(texts[1:], MOST - 1)])


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
            made = _allowed(_templated(entry, templates), rng)
            asked = [_allowed(expand(line), rng) for line in lines(entry.get("ask", ""))]
            written = tuple(line for line in asked if line)
            held, must = tuple(lines(entry["held"])), tuple(items(entry["must"]))
            out.append(Question(key, made, written, held, entry["answer"], must))
    return tuple(out)
