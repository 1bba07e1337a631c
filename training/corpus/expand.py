"""Alternations: ``how (do|can) i {a}`` stands for every way to fill the brackets."""

from __future__ import annotations

import itertools
import random
import re

_TOKEN = re.compile(r"[()|]|[^()|]+")


def _parse(tokens: list[str], nested: bool) -> list[list[str | list[object]]]:
    """Alternatives, each a sequence of strings and nested alternative lists."""
    options: list[list[str | list[object]]] = [[]]
    while tokens:
        token = tokens.pop(0)
        if token == "(":
            options[-1].append(list(_parse(tokens, True)))
        elif token == ")" and nested:
            return options
        elif token == "|" and nested:
            options.append([])
        else:
            options[-1].append(token)
    if nested:
        raise ValueError("unclosed bracket")
    return options


def _texts(options: list[list[str | list[object]]]) -> list[str]:
    out: list[str] = []
    for sequence in options:
        parts = [[part] if isinstance(part, str) else _texts(part) for part in sequence]  # type: ignore[arg-type]
        out += ["".join(choice) for choice in itertools.product(*parts)]
    return out


def tidy(text: str) -> str:
    """One space between words, none before a comma."""
    return re.sub(r"\s+,", ",", re.sub(r"\s+", " ", text)).strip()


def expand(pattern: str) -> list[str]:
    """Every text a pattern stands for, in order, without repetitions."""
    tokens = _TOKEN.findall(pattern)
    return list(dict.fromkeys(tidy(text) for text in _texts(_parse(tokens, False))))


def fill(template: str, words: dict[str, list[str]], rng: random.Random) -> str:
    """One random text of a template: a choice per bracket, a word per ``{name}``."""
    text = template
    while match := re.search(r"\(([^()]*)\)", text):
        text = text[: match.start()] + rng.choice(match[1].split("|")) + text[match.end() :]
    return tidy(re.sub(r"\{(\w)\}", lambda m: rng.choice(words[m[1]]), text))


def normalise(text: str) -> str:
    """Letters and digits only, lower case: two phrasings that agree here count as the same."""
    return " ".join(re.findall(r"[a-z0-9$]+", text.lower()))
