"""The introduction's words: what this is, what the figures mean, models and memory, keys."""

from __future__ import annotations

from dataclasses import dataclass

from edge0_tui.keymap import Keymap
from edge0_tui.keys import BY_ID
from edge0_tui.quantities import QUANTITIES

_FIGURES = ("now", "ttft", "peak", "footprint", "cached_pages", "hits")
_KEYS = ("send", "newline", "stop", "new_chat", "chats", "models", "command_palette", "help")


@dataclass(frozen=True)
class Card:
    """One page: paragraphs, then pairs of a word and what it means."""

    title: str
    paragraphs: tuple[str, ...] = ()
    pairs: tuple[tuple[str, str], ...] = ()


def cards(keymap: Keymap) -> tuple[Card, ...]:
    """All of them, with the keys as they are now."""
    figures = {quantity.id: quantity for quantity in QUANTITIES}
    return (
        Card(
            "A chat that stays here",
            (
                "The model runs on this machine and nothing you write leaves it. The network is used for downloads "
                "you ask for and for nothing else.",
                "Models may be larger than your memory: their experts stay on the disk and are read as each token "
                "needs them.",
                "Every conversation is kept as a Markdown file that you can read without this program.",
            ),
        ),
        Card(
            "What the figures mean",
            (keymap.say("They are measured while the model answers. {key:toggle_panel} shows or hides them."),),
            tuple((figures[id].label, figures[id].meaning) for id in _FIGURES),
        ),
        Card(
            "Models and memory",
            (
                "nano is built in. It answers questions about this program and knows nothing else.",
                "The 8B runs in 1.5 GiB of memory beside the system, the 35B in 3 GiB; both want an SSD. A plan of "
                "the memory is made before a model is loaded, and kept.",
                keymap.say("{key:models} lists the models, adapters and routing."),
            ),
        ),
        Card(
            "Keys",
            (),
            tuple((keymap.keys(id)[0] if keymap.keys(id) else "palette", BY_ID[id].help) for id in _KEYS),
        ),
    )
