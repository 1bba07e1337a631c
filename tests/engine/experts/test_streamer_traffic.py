"""Random traffic: whatever the slots, the order and the predictions, an expert's bytes are those of its file."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.experts.record import Key
from tests.engine.experts.library import Library
from tests.engine.experts.traffic import K, Routes, decode, prefill, streamer

LAYERS, EXPERTS = (1, 2, 3), 8
SLOTS = [LAYERS[-1] * K, LAYERS[-1] * EXPERTS // 2, LAYERS[-1] * EXPERTS]

EXPERT = st.integers(0, EXPERTS - 1)
ROUTE = st.lists(EXPERT, min_size=K, max_size=K, unique=True)
ROUTES = st.fixed_dictionaries(dict.fromkeys(LAYERS, ROUTE))
ROWS = st.dictionaries(EXPERT, st.integers(1, 9), min_size=1)
CHUNK = st.fixed_dictionaries(dict.fromkeys(LAYERS, ROWS))

quick = settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@pytest.mark.parametrize("slots", SLOTS)
@quick
@given(steps=st.lists(ROUTES, min_size=1, max_size=12))
def test_decode_counts_what_a_plain_cache_would(library: Library, slots: int, steps: list[Routes]) -> None:
    under_test = streamer(library, slots)
    recent: list[Key] = []
    hits = misses = 0
    for routes in steps:
        decode(under_test, library, routes)
        for layer, experts in routes.items():
            keys = [(layer, expert) for expert in experts]
            held = [key for key in keys if key in recent]
            new = [key for key in keys if key not in recent]
            hits, misses = hits + len(held), misses + len(new)
            recent = [key for key in recent if key not in held] + held + new
            del recent[: max(0, len(recent) - slots)]
    counters = under_test.counters()
    under_test.close()
    assert (counters.hits, counters.misses, counters.dropped) == (hits, misses, 0)
    assert counters.bytes_read == counters.bytes_requested == misses * library.shape.nbytes
    assert counters.read_amplification == 1.0


@pytest.mark.parametrize("slots", SLOTS)
@quick
@given(steps=st.lists(st.tuples(ROUTES, ROUTES), min_size=1, max_size=12))
def test_wrong_predictions_cost_reads_but_never_bytes(
    library: Library, slots: int, steps: list[tuple[Routes, Routes]]
) -> None:
    under_test = streamer(library, slots)
    for routes, predicted in steps:
        decode(under_test, library, routes, predicted)
    counters = under_test.counters()
    under_test.close()
    assert counters.hits + counters.misses == len(steps) * len(LAYERS) * K
    assert counters.dropped == 0
    assert counters.bytes_read <= 2 * len(steps) * len(LAYERS) * K * library.shape.nbytes


@pytest.mark.parametrize("slots", SLOTS)
@quick
@given(steps=st.lists(ROUTES, min_size=1, max_size=12))
def test_right_predictions_hit_what_was_resident_before(library: Library, slots: int, steps: list[Routes]) -> None:
    under_test = streamer(library, slots)
    hits = 0
    for routes in steps:
        hits += len(set(under_test.hot_list()) & {(layer, e) for layer, experts in routes.items() for e in experts})
        decode(under_test, library, routes, predicted=routes)
    counters = under_test.counters()
    under_test.close()
    assert counters.hits == hits
    assert counters.misses == len(steps) * len(LAYERS) * K - hits
    assert counters.bytes_read == counters.bytes_requested == counters.misses * library.shape.nbytes


@pytest.mark.parametrize("slots", SLOTS)
@quick
@given(
    traffic=st.lists(
        st.one_of(
            st.tuples(st.just("decode"), ROUTES, st.none() | ROUTES),
            st.tuples(st.just("prefill"), CHUNK, st.none()),
        ),
        max_size=8,
    )
)
def test_chunks_and_steps_in_any_order(
    library: Library, slots: int, traffic: list[tuple[str, dict[int, list[int]] | dict[int, dict[int, int]], None]]
) -> None:
    under_test = streamer(library, slots)
    for kind, routes, predicted in traffic:
        for layer, part in routes.items():
            if isinstance(part, dict):
                before = under_test.counters()
                prefill(under_test, library, layer, part)
                after = under_test.counters()
                assert after.hits - before.hits + after.misses - before.misses == len(part)
        if kind == "decode":
            decode(under_test, library, {layer: list(part) for layer, part in routes.items()}, predicted)
    counters = under_test.counters()
    size = under_test.nbytes
    under_test.close()
    assert counters.dropped == 0
    staging = 0 if slots == SLOTS[-1] else 3 * 2
    assert size == (slots + staging) * library.shape.nbytes
