"""Which tier a directory is, and how many experts a token uses (K).

Tier. `nano`: the built-in directory engine/nano, or a config.json with "edge0_tier": "nano". `35b`, `8b`: the
released model's exact sizes. Everything else is `custom`.

K. config.json's num_experts_per_tok, except that the released tiers were trained further with a K that no file of
the base carries (the 8B's is what its config.json says anyway, 8). In order:
1. the adapter and heads files beside the weights (not those under adapters/) give a K in their metadata and agree;
2. the sizes are the released 35B's, and the name (directory or hub repository) contains "Edge0-35B", or a file
   beside the weights is named lora_edge0_* or prerouter_edge0_*: K = 4;
3. otherwise the file's own figure: a plain conversion of the same model runs K = 8.
When the files disagree with each other rule 2 decides, else rule 3. Departures are noted in words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import engine
from engine.checkpoint.model_config import ModelConfig

NANO = Path(engine.__file__).resolve().parent / "nano"
RELEASED = {"35b": ("edge0-35b", 4), "8b": ("edge0-8b", 8)}


@dataclass(frozen=True)
class Identity:
    """The tier, K, and notes a person should see (empty when nothing is unusual)."""

    tier: str
    experts_per_token: int
    notes: tuple[str, ...]


def identify(
    directory: Path, name: str, config: ModelConfig, marker: object, trained_k: Mapping[str, int | None]
) -> Identity:
    """Apply the rules above. `marker`: config.json's edge0_tier. `trained_k`: K by file beside the weights."""
    tier = "nano" if directory.resolve() == NANO or marker == "nano" else config.released_tier or "custom"
    said = {file: k for file, k in trained_k.items() if k is not None}
    released = _released_k(tier, directory, name, list(trained_k))
    notes: list[str] = []
    k = config.num_experts_per_tok
    if len(set(said.values())) == 1:
        k = next(iter(said.values()))
        if released not in (None, k):
            notes.append(f"{next(iter(said))} says K={k}, the released model runs K={released}")
    else:
        if said:
            sayings = ", ".join(f"{file} says {value}" for file, value in said.items())
            notes.append(f"files disagree on K: {sayings}")
        k = released or k
    if k > config.experts_selectable:
        notes.append(f"K={k} exceeds the {config.experts_selectable} experts and is not used")
        k = config.num_experts_per_tok
    if k != config.num_experts_per_tok:
        notes.append(f"runs K={k}, config.json says {config.num_experts_per_tok}")
    return Identity(tier, k, tuple(notes))


def _released_k(tier: str, directory: Path, name: str, files: Sequence[str]) -> int | None:
    if tier not in RELEASED:
        return None
    word, k = RELEASED[tier]
    named = word in name.lower() or word in directory.name.lower()
    return k if named or any(file.startswith(("lora_edge0_", "prerouter_edge0_")) for file in files) else None
