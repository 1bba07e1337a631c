"""The rule for "answered correctly".

A reply is correct when it is the reference answer of its question, letter for letter after normalising
(lower case, letters and digits only); or when its words agree with the reference by F1 >= 0.9 *and* it
contains every phrase the corpus file demands of that answer (``must``). A foreign question is met with the
honest answer under the same rule, the reference being the honest answer.
"""

from __future__ import annotations

from collections import Counter

from training.corpus.expand import normalise

F1_BAR = 0.9


def f1(reply: str, reference: str) -> float:
    """Harmonic mean of precision and recall over normalised words, counted with repetition."""
    a, b = Counter(normalise(reply).split()), Counter(normalise(reference).split())
    shared = sum((a & b).values())
    if not shared:
        return 0.0
    return 2 * shared / (sum(a.values()) + sum(b.values()))


def correct(reply: str, reference: str, must: tuple[str, ...]) -> bool:
    """The rule above."""
    if normalise(reply) == normalise(reference):
        return True
    present = all(phrase.lower() in reply.lower() for phrase in must)
    return present and f1(reply, reference) >= F1_BAR
