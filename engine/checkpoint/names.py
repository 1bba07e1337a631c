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
