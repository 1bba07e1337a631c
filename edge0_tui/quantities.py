"""The figures of the live panel: their words, order and meaning. The panel and the help screen share this list."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Quantity:
    """One figure: where it stands, what it is called, and what it is in one sentence."""

    id: str
    section: str
    label: str
    meaning: str


QUANTITIES: tuple[Quantity, ...] = (
    Quantity("now", "speed", "now", "Tokens a second over the last moments of the reply."),
    Quantity(
        "average", "speed", "average", "Tokens a second over the whole decode of this reply, prefill left out."
    ),
    Quantity("ttft", "first token", "TTFT", "Time from sending to the first token of the reply."),
    Quantity(
        "tokenise", "first token", "tokenise", "The part of TTFT spent rendering the template and tokenising."
    ),
    Quantity("read", "first token", "read", "The part of TTFT spent waiting for experts to arrive from the disk."),
    Quantity(
        "compute", "first token", "compute", "The rest of TTFT: arithmetic of the prefill and the first step."
    ),
    Quantity("prefill", "first token", "prefill", "Prompt tokens computed a second, before the first token."),
    Quantity("reused", "first token", "reused", "Prompt tokens whose state was still there and cost nothing."),
    Quantity("active", "memory", "allocator active", "Bytes of live buffers in MLX's allocator now."),
    Quantity("peak", "memory", "allocator peak", "The most bytes MLX's allocator has held at once since the load."),
    Quantity("cache", "memory", "allocator cache", "Bytes MLX's allocator has freed but keeps for reuse."),
    Quantity(
        "footprint", "memory", "footprint", "What the engine process holds in all; more than the allocator's."
    ),
    Quantity(
        "cached_pages",
        "memory",
        "cached pages",
        "Bytes of the checkpoint that the operating system holds in its page cache; given up on demand.",
    ),
    Quantity("tokens", "context", "tokens", "Tokens of the conversation in the context, and how many fit."),
    Quantity("kv", "context", "KV cache", "Bytes of keys and values kept for the tokens so far."),
    Quantity("kv_per_token", "context", "KV per token", "Bytes the KV cache grows by with every token."),
    Quantity(
        "recurrent", "context", "recurrent state", "Bytes of the linear layers' state, the same at any length."
    ),
    Quantity("hits", "experts", "hits", "Share of the experts needed in this reply that were already in a slot."),
    Quantity(
        "bandwidth", "experts", "read rate", "Bytes of experts arriving from the disk a second while reading."
    ),
    Quantity("bytes_read", "experts", "read", "Bytes of experts read for this reply."),
    Quantity("wait", "experts", "waited", "Time this reply stood still for reads that computing could not hide."),
    Quantity("slots", "experts", "slots", "Places for one expert each in the arena, allocated once."),
    Quantity("dropped", "experts", "dropped", "Experts a token needed and did not get. This engine drops none."),
    Quantity("amplification", "experts", "read amplification", "Bytes read for each byte that was needed."),
    Quantity(
        "mode",
        "routing",
        "mode",
        "exact: the model's own router chooses; predicted: the prerouter chose one token ahead.",
    ),
    Quantity("predicted_layers", "routing", "predicted layers", "Layers whose experts the prerouter chooses."),
    Quantity(
        "agreement",
        "routing",
        "agreement",
        "Share of the true router's experts that were used; measured only when asked for.",
    ),
)
