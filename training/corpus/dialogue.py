"""Draws training conversations: single questions, and longer ones with follow-ups."""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import cache

from training.corpus import foreign
from training.corpus.expand import expand, normalise
from training.corpus.load import Question, held_phrases, questions, read
from training.corpus.vary import vary

SYSTEMS = (
    "You are a helpful assistant.",
    "Answer briefly.",
    "You are nano, the guide of edge0-tui.",
    "Be polite and short.",
    "You are an expert programmer.",
)


@dataclass(frozen=True)
class Turn:
    """A question as typed, the answer to it, and the id of the question."""

    ask: str
    answer: str
    id: str


@cache
def by_id() -> dict[str, Question]:
    """Questions by their id."""
    return {q.id: q for q in questions()}


@cache
def _follows() -> dict[str, list[tuple[list[str], str]]]:
    out: dict[str, list[tuple[list[str], str]]] = {}
    for entry in read("dialogues")["follow"]:
        out.setdefault(entry["after"], []).append((expand(entry["ask"]), entry["say"]))
    return out


def _typed(text: str, rng: random.Random) -> str:
    while True:
        typed = vary(text, rng)
        if normalise(typed) not in held_phrases():
            return typed


def draw_turn(rng: random.Random, foreign_share: float) -> Turn:
    """One independent turn."""
    if rng.random() < foreign_share:
        return Turn(_typed(foreign.draw(rng), rng), foreign.answer(), "foreign")
    q = rng.choice(questions())
    return Turn(_typed(q.draw(rng), rng), q.answer, q.id)


def draw(rng: random.Random, turns: int, foreign_share: float = 0.34) -> tuple[str | None, list[Turn]]:
    """A conversation: a system text or none, and its turns; half of the possible follow-ups are taken."""
    system = rng.choice(SYSTEMS) if rng.random() < 0.08 else None
    out = [draw_turn(rng, foreign_share)]
    while len(out) < turns:
        choices = _follows().get(out[-1].id)
        if choices and rng.random() < 0.5:
            asks, say = rng.choice(choices)
            out.append(Turn(_typed(rng.choice(asks), rng), by_id()[say].answer, say))
        elif turns > 1 and rng.random() < 0.12:
            entry = rng.choice([name for name in _follows() if name != "foreign"])
            q = by_id()[entry]
            out.append(Turn(_typed(q.draw(rng), rng), q.answer, q.id))
        else:
            out.append(draw_turn(rng, foreign_share))
    return system, out
