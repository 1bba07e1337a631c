"""After a reply: what had been expected of it is compared with how it came, for the next plan. No Textual."""

from __future__ import annotations

from edge0_tui.installed import BUILT_IN
from edge0_tui.paths import Paths
from engine.protocol import Finished, ModelInfo

MEASUREMENTS = "probe.json"
"""`engine.outlook.store.FILE`, which is not imported where there is nothing to learn."""


def note_reply(places: Paths, info: ModelInfo, finished: Finished) -> None:
    """Blocks for a fraction of a second: call it in a thread. Nothing it does can fail a reply that was given.

    Without earlier measurements of the disk and the layers nothing was expected, so nothing is learned.
    """
    if not (places.data / MEASUREMENTS).is_file():
        return
    from edge0_tui.planning import planned
    from engine.errors import EngineError
    from engine.outlook.learned import learn
    from engine.outlook.machine import this_machine
    from engine.outlook.outlook import outlook
    from engine.outlook.types import Exchange

    counters = finished.counters
    try:
        what = planned(BUILT_IN if info.tier == BUILT_IN else info.path, places)
        machine = this_machine(what.volume, places.data, window=0)
        expected = outlook(
            what.model.facts(machine.activation_bytes),
            machine,
            budget=info.budget_bytes,
            context=info.context_limit,
            routing=counters.routing.mode,
            held=counters.footprint_bytes,
            cached=counters.cached_pages_bytes or 0,
            exchange=Exchange(0, counters.completion_tokens),
        )
        learn(places.data, expected, counters.decode_tok_s, counters.completion_tokens)
    except (EngineError, OSError):
        return
