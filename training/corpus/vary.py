"""Small variations a person would type: capitals, question marks, polite words, slips of the finger."""

from __future__ import annotations

import random

BEFORE = (
    "please ", "hey, ", "so ", "ok ", "hi, ", "hello, ", "um ", "and ", "now ", "well, ", "sorry, ",
    "quick question: ", "nano, ", "one more thing: ", "also, ", "but ",
)  # fmt: skip
AFTER = (" please", " now", " thanks", ", please", " here", " again", " in this app", " exactly", " then", " nano")
SWAPS = {
    "show": "display", "display": "show", "change": "switch", "reply": "answer", "answer": "reply",
    "chat": "conversation", "conversation": "chat", "key": "button", "begin": "start", "start": "begin",
    "explain": "describe", "big": "large", "large": "big", "see": "view", "model": "checkpoint",
    "can": "could", "how do": "how could", "delete": "remove", "remove": "delete", "stop": "halt",
    "memory": "ram", "ram": "memory", "disk": "drive", "ssd": "disk", "need": "require", "want": "wish",
    "message": "prompt", "question": "prompt", "app": "program", "program": "app", "use": "utilise",
    "find": "locate", "what is": "what's", "do not": "don't", "i am": "i'm", "fast": "quick",
    "save": "store", "saved": "stored", "choose": "pick", "open": "bring up", "text": "words",
}  # fmt: skip
SMALL = {"the", "a", "an", "do", "does", "is", "to", "of", "in", "my", "i", "it", "me", "for", "are"}


def _slip(word: str, rng: random.Random) -> str:
    """One typing error inside a word of four letters or more."""
    if len(word) < 4:
        return word
    at = rng.randrange(1, len(word) - 1)
    kind = rng.randrange(3)
    if kind == 0:
        return word[:at] + word[at + 1 :]
    if kind == 1:
        return word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    return word[:at] + word[at] + word[at:]


def _words(text: str, rng: random.Random) -> str:
    for old, new in SWAPS.items():
        if f" {old} " in f" {text} " and rng.random() < 0.12:
            text = f" {text} ".replace(f" {old} ", f" {new} ", 1).strip()
    words = text.split(" ")
    if len(words) > 3 and rng.random() < 0.2:
        small = [i for i, w in enumerate(words) if w in SMALL]
        if small:
            words.pop(rng.choice(small))
    if rng.random() < 0.12:
        at = rng.randrange(len(words))
        words[at] = _slip(words[at], rng)
    return " ".join(words)


def vary(text: str, rng: random.Random) -> str:
    """A phrasing as somebody might type it; about a third are left alone but for the question mark."""
    if rng.random() < 0.6:
        text = _words(text, rng)
    if rng.random() < 0.15:
        text = rng.choice(BEFORE) + text
    if rng.random() < 0.1:
        text += rng.choice(AFTER)
    if rng.random() < 0.5 and text[-1].isalnum():
        text += rng.choice(("?", "?", "?", ".", "!", " ?", "??"))
    if rng.random() < 0.45:
        text = text[0].upper() + text[1:]
    if rng.random() < 0.02:
        text = text.upper()
    return text
