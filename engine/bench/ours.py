"""This engine, measured in a process of its own (`python -m engine.bench.ours`)."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from dataclasses import asdict, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.bench.peer import prompt_ids

if TYPE_CHECKING:
    from engine.session import Session


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m engine.bench.ours", description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("--everything", action="store_true", help="give every expert a slot")
    parser.add_argument("--routing", default="exact")
    parser.add_argument("--prompt", type=int, default=4, help="tokens of the prompt")
    parser.add_argument("--steps", type=int, default=16, help="tokens of the reply")
    parser.add_argument("--drop-cache", action="store_true", help="let go of the checkpoint's cached pages first")
    parser.add_argument("--least", action="store_true", help="the least budget: slots for one token's experts")
    parser.add_argument("--context", type=int, help="tokens of the context")
    parser.add_argument("--count-experts", action="store_true", help="count the distinct experts of the prompt")
    parser.add_argument("--repeat", type=int, default=1, help="measure the last of so many identical replies")
    options = parser.parse_args(argv)
    json.dump(measure(options), sys.stdout)
    return 0


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Seconds of prefill, median seconds of a decode step, memory and expert traffic."""
    import mlx.core as mx

    from engine.choice import choose
    from engine.footprint import footprint
    from engine.plan import everything_budget, least_budget
    from engine.protocol import Load, Sampling
    from engine.session import Session
    from engine.text import Prompt, ReplyStart

    if options.drop_cache:
        drop_cached_pages(options.model)
    session = Session()
    request = Load("load", str(options.model), routing=options.routing, context=options.context)
    if options.everything or options.least:
        facts = choose(request).facts(session.kernels.activation_dtype.size)
        budget = (everything_budget if options.everything else least_budget)(facts, options.context)
        request = replace(request, memory_bytes=budget)
    info = session.load(request, lambda *_: None, lambda: False)
    ids = prompt_ids(options.prompt)
    times: list[float] = []
    for _ in range(options.repeat):
        session.reset()
        sampling = Sampling(temperature=0, max_tokens=options.steps)
        started = time.perf_counter()
        reply = session.reply(Prompt("", ids, len(ids), ReplyStart()), sampling, info.routing)
        reply.limits = replace(reply.limits, stop_ids=frozenset())
        times = [time.perf_counter() - started for _ in reply]
    steps = sorted(after - before for before, after in pairwise(times))
    experts = session.loaded.experts.counters()
    state = session.loaded.live.state
    return {
        "load_s": info.load_seconds,
        "prefill_s": times[0],
        "decode_s": steps[len(steps) // 2] if steps else 0.0,
        "budget": info.budget_bytes,
        "plan": {item.name: item.bytes for item in info.plan},
        "peak": mx.get_peak_memory(),
        "footprint": footprint(),
        "kv_bytes_per_token": state.cache_bytes_per_token,
        "experts": asdict(experts),
        "read_amplification": experts.read_amplification,
        "wait_s": session.loaded.experts.wait_s,
        "bandwidth": session.loaded.experts.bandwidth,
    } | (distinct_experts(session, ids, experts.bytes_read) if options.count_experts else {})


def distinct_experts(session: Session, prompt: list[int], bytes_read: int) -> dict[str, float]:
    """Records a prompt routes to, counted from the routers' own choice in one more pass, against what was read."""
    from engine.models.step import Step

    model = session.loaded.model
    step = Step(prefill=True, capture=frozenset(model.routers))
    model.forward(prompt, model.fresh_state(), step)
    distinct = sum(len(set(route.experts.flat)) for route in step.routes.values())
    record = session.loaded.experts.arena.shape.nbytes
    return {"distinct_experts": distinct, "read_over_distinct": bytes_read / (distinct * record)}


def drop_cached_pages(directory: Path) -> None:
    """Ask the system to forget the files' pages, so that reads come from the disk."""
    for path in directory.glob("*.safetensors"):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        finally:
            os.close(descriptor)


if __name__ == "__main__":
    sys.exit(main())
