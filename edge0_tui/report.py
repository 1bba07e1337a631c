"""The object that `run --json` ends with. Its field names are a contract; scripts read them."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from engine.protocol import Counters, Failed, Finished, ModelInfo


def report(info: ModelInfo, finished: Finished) -> dict[str, Any]:
    """A reply with its ids and figures; times in seconds, sizes in bytes. The model's own keys come last."""
    return {
        "text": finished.text,
        "thinking": finished.thinking,
        "prompt_ids": finished.prompt_ids,
        "ids": finished.ids,
        "finish_reason": finished.finish_reason,
        **figures(finished.counters),
        "seed": finished.seed,
        "model": info.name,
        "tier": info.tier,
        "path": info.path,
        "adapter": info.adapter,
        "adapter_report": asdict(info.adapter_report) if info.adapter_report else None,
        "budget_bytes": info.budget_bytes,
        "plan": [asdict(item) for item in info.plan],
        "load_s": info.load_seconds,
    }


def failure(failed: Failed) -> dict[str, Any]:
    """What `run --json` prints when there is no reply: the partial text and why it ended."""
    return {
        "text": failed.text,
        "thinking": failed.thinking,
        "finish_reason": "error",
        "error": {"kind": failed.kind, "message": failed.message, "hint": failed.hint},
    }


def figures(counters: Counters) -> dict[str, Any]:
    """The measured part of the report."""
    experts, routing = counters.experts, counters.routing
    return {
        "prompt_tokens": counters.prompt_tokens,
        "reused_tokens": counters.reused_tokens,
        "completion_tokens": counters.completion_tokens,
        "thinking_tokens": counters.thinking_tokens,
        "ttft_s": asdict(counters.ttft),
        "prefill_tok_s": counters.prefill_tok_s,
        "decode_tok_s": counters.decode_tok_s,
        "allocator": asdict(counters.allocator),
        "footprint_bytes": counters.footprint_bytes,
        "kv_bytes": counters.kv_bytes,
        "kv_bytes_per_token": counters.kv_bytes_per_token,
        "recurrent_bytes": counters.recurrent_bytes,
        "context_used": counters.context_used,
        "context_limit": counters.context_limit,
        "experts": {
            "slots": experts.slots,
            "hits": experts.hits,
            "misses": experts.misses,
            "bytes_read": experts.bytes_read,
            "dropped": experts.dropped,
            "read_amplification": experts.read_amplification,
        },
        "io": {"wait_s": counters.io_wait_s, "bandwidth": counters.io_bandwidth},
        "routing": {
            "mode": routing.mode,
            "predicted_layers": routing.predicted_layers,
            "agreement": routing.agreement,
            "agreement_by_layer": routing.agreement_by_layer,
        },
    }
