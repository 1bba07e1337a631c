"""An outlook as scripts read it: sizes in bytes, times in seconds, null for what is unknown."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from engine.outlook.types import ComputeSpeed, DiskSpeed, Machine, Outlook, Range, Speed


def machine_json(machine: Machine) -> dict[str, Any]:
    """Facts of the machine and what was measured of its disk."""
    memory, volume = machine.memory, machine.volume
    return {
        "chip": machine.chip,
        "cores": machine.cores,
        "threads": machine.threads,
        "system": machine.system,
        "device": machine.device,
        "accelerator_working_set": machine.working_set,
        "memory": {
            "total": memory.total,
            "available": memory.available,
            "usable": memory.usable,
            "control_group_limit": memory.limit,
        },
        "swap": {"used": memory.swap_used, **(asdict(machine.swapping) if machine.swapping else _NO_TREND)},
        "volume": {
            "path": str(volume.path),
            "free": volume.free,
            "total": volume.total,
            "file_system": volume.file_system,
        },
        "disk": _disk(machine.disk) if machine.disk else None,
    }


_NO_TREND = {"into_memory": None, "out_of_memory": None, "growth": None}


def outlook_json(out: Outlook) -> dict[str, Any]:
    """The plan, the speed and the verdict."""
    compute = out.machine.compute(out.facts.shape)
    return {
        "name": out.facts.name,
        "verdict": out.verdict,
        "pace": out.pace,
        "sentence": out.sentence,
        "hint": out.hint,
        "budget": out.budget,
        "context": out.context,
        "slots": out.plan.slots if out.plan else None,
        "items": [asdict(item) for item in out.items],
        "kv": [{"context": tokens, "bytes": nbytes} for tokens, nbytes in out.kv],
        "page_cache": out.left,
        "least_budget": out.least,
        "everything_budget": out.most,
        "speed": _speed(out.speed) if out.speed else None,
        "compute": _compute(compute) if compute else None,
        "learned": asdict(out.learned) if out.learned else None,
        "reasons": list(out.reasons),
    }


def _disk(disk: DiskSpeed) -> dict[str, Any]:
    return {
        "bytes_per_second": {str(depth): rate for depth, rate in disk.rates},
        "page_cache_bytes_per_second": disk.cached,
        "record": disk.record,
        "pieces": disk.pieces,
        "bytes_read": disk.bytes,
        "measured": disk.measured,
        "source": disk.source,
    }


def _speed(speed: Speed) -> dict[str, Any]:
    return {
        "tokens_per_second": _range(speed.decode),
        "first_token_s": _range(speed.first_token),
        "prompt_tokens": speed.exchange.prompt,
        "reply_tokens": speed.exchange.reply,
        "routing": speed.routing,
        "bytes_per_token": speed.needed,
        "hits": speed.hits,
        "page_cache_hits": speed.cached,
        "read_s": speed.read_s,
        "compute_s": speed.compute_s,
        "hidden_s": speed.hidden_s,
    }


def _compute(compute: ComputeSpeed) -> dict[str, Any]:
    return {
        "exact_s": compute.exact,
        "predicted_s": compute.predicted,
        "head_s": compute.head,
        "prerouter_s": compute.heads,
        "prefill_s": {str(tokens): seconds for tokens, seconds in compute.prefill},
        "measured": compute.measured,
        "version": compute.version,
    }


def _range(value: Range) -> dict[str, float]:
    return {"low": value.low, "likely": value.likely, "high": value.high}
