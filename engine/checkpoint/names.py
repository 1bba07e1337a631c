"""One name for each tensor, whichever wrapper the checkpoint was saved from.

Canonical names start inside the text model: `layers.3.self_attn.q_proj.weight`, `embed_tokens.weight`,
`norm.weight`, `lm_head.weight`.
"""

from __future__ import annotations

# Longest first: `model.language_model.` also starts with `model.`.
PREFIXES = ("language_model.model.", "model.language_model.", "language_model.", "model.")


def canonical(name: str) -> str:
    """The canonical name of a tensor or module."""
    for prefix in PREFIXES:
        if name.startswith(prefix):
            return name[len(prefix) :]
    return name


def never_adapted(module: str) -> bool:
    """Whether an adapter's module is a routed expert (streamed, many in one) or an embedding (rows, no product)."""
    words = module.split(".")
    return "switch_mlp" in words or "experts" in words or words[-1] in ("embed_tokens", "word_embeddings")
