"""Telling the base model, and other programs' conversions of it, from a damaged checkpoint."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from engine.checkpoint.headers import TensorInfo
from engine.checkpoint.parts import FLOATS

HINT = "This is the base model (Ling 3.0) or another program's conversion of it: {}. Fetch Edge0's own checkpoint."


def explain(layers: int, tensors: Mapping[str, TensorInfo]) -> str:
    """What a person should know about canonical `tensors` that do not fit; "" when they only look damaged."""
    signs = list(dict.fromkeys(sign for name, info in tensors.items() for sign in _signs(layers, name, info)))
    return HINT.format(", ".join(signs)) if signs else ""


def _signs(layers: int, name: str, info: TensorInfo) -> Iterator[str]:
    words = name.split(".")
    if words[0] == "layers" and words[1:2] and words[1].isdecimal() and int(words[1][:9]) >= layers:
        yield f"it has layers beyond its {layers}, which predict further tokens (MTP)"
    if words[0].startswith("mtp"):
        yield "it predicts further tokens (MTP)"
    if "switch_mlp" in words:
        yield "its experts are called switch_mlp"
    if words[3:4] == ["experts"] and words[4].isdecimal():
        yield "its experts are not stacked"
    if "embed_q" in words or "unembed_out" in words:
        yield "its kv_b_proj is split"
    if words[-2:] == ["kv_b_proj", "weight"] and info.dtype in FLOATS:
        yield "its kv_b_proj is not quantised"
