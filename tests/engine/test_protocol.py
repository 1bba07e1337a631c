"""Every message survives its line, and nothing else is taken for a message."""

from __future__ import annotations

import json
import typing
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.process.batching import Pending, join
from engine.protocol import (
    Counters,
    Delta,
    Event,
    Failed,
    Finished,
    Heartbeat,
    Load,
    Loading,
    Piece,
    Prefilling,
    Request,
)
from engine.wire import ProtocolError, decode, encode

MESSAGES: list[type[typing.Any]] = [*typing.get_args(Request), *typing.get_args(Event)]
MODEST = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
st.register_type_strategy(float, st.floats(allow_nan=False, allow_infinity=False))


@pytest.mark.parametrize("kind", MESSAGES, ids=lambda kind: kind.__name__)
@settings(MODEST, max_examples=15)
@given(data=st.data())
def test_round_trip(kind: type[typing.Any], data: st.DataObject) -> None:
    message = data.draw(st.from_type(kind))
    line = encode(message)
    assert line.endswith(b"\n") and line.count(b"\n") == 1
    assert decode(line) == message


COUNTERS = {"type": "Prefilling", "id": "a", "done": 1, "total": 2, "reused": 0, "counters": {}}


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ({"type": "Delete", "id": "a"}, "not a message"),
        ({"id": "a"}, "not a message"),
        ({"type": "Stop"}, "id"),
        ({"type": "Stop", "id": 3}, "Stop.id"),
        ({"type": "Stop", "id": None}, "Stop.id"),
        ({"type": "Stop", "id": "a", "now": True}, "'now'"),
        ({"type": "Load", "id": "a", "model": "m", "context": "4k"}, "Load.context"),
        ({"type": "Load", "id": "a", "model": "m", "context": True}, "Load.context"),
        ({"type": "Load", "id": "a", "model": "m", "context": 1.5}, "Load.context"),
        ({"type": "Generate", "id": "a", "messages": "hello"}, "Generate.messages"),
        ({"type": "Generate", "id": "a", "messages": [{"role": "root", "content": ""}]}, "messages[0].role"),
        ({"type": "Generate", "id": "a", "messages": [{"role": "user"}]}, "content"),
        ({"type": "Generate", "id": "a", "messages": [], "sampling": {"temperature": "hot"}}, "temperature"),
        ({**COUNTERS, "counters": {"experts": {"lost": 1}}}, "'lost'"),
        ({**COUNTERS, "counters": {"routing": {"agreement_by_layer": {"3": "all"}}}}, "agreement_by_layer.3"),
        ({**COUNTERS, "counters": []}, "Prefilling.counters"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(body: dict[str, typing.Any], named: str) -> None:
    with pytest.raises(ProtocolError, match=named.replace("[", r"\[").replace("]", r"\]")):
        decode(json.dumps(body))


@pytest.mark.parametrize(
    "line", [b"", b"\n", b"hello", b"[]", b"3", b"null", b'{"type"', b"\xff\xfe", b'{"type":3}']
)
def test_other_lines_are_refused(line: bytes) -> None:
    with pytest.raises(ProtocolError):
        decode(line)


def test_whole_numbers_are_taken_where_fractions_are_expected() -> None:
    assert decode('{"type":"Heartbeat","uptime":3}') == Heartbeat(3.0)


pieces = st.lists(st.builds(Piece, st.sampled_from(["answer", "thinking"]), st.text(max_size=5)), max_size=4)
events = st.one_of(
    st.builds(Delta, st.sampled_from("ab"), pieces, st.builds(Counters, completion_tokens=st.integers(0, 99))),
    st.builds(Prefilling, st.sampled_from("ab"), st.integers(0, 9), st.just(9), st.just(0), st.just(Counters())),
    st.builds(Loading, st.sampled_from("ab"), st.sampled_from(["read", "check"]), st.integers(0, 9)),
    st.builds(Failed, st.sampled_from("ab"), st.just("engine"), st.just("no")),
)


@given(st.lists(events, max_size=30))
@settings(MODEST, max_examples=50)
def test_merging_loses_no_text_no_end_and_no_order(sent: list[Event]) -> None:
    pending = Pending()
    for event in sent:
        pending.put(event)
    merged = pending.take()
    assert len(pending) == 0
    assert _text(merged) == _text(sent)
    assert [event for event in merged if isinstance(event, Failed)] == [
        event for event in sent if isinstance(event, Failed)
    ]
    if sent and isinstance(sent[-1], Delta | Prefilling):
        last = merged[-1]
        assert isinstance(last, Delta | Prefilling) and last.counters == sent[-1].counters
    for before, after in pairwise(merged):
        assert not (isinstance(before, Delta) and isinstance(after, Delta) and before.id == after.id)


def _text(events: list[Event]) -> list[tuple[str, list[Piece]]]:
    """Text between other events, with each run of one channel as one piece."""
    found: list[tuple[str, list[Piece]]] = []
    for event in events:
        if isinstance(event, Delta):
            if found and found[-1][0] == event.id:
                found[-1] = (event.id, found[-1][1] + event.pieces)
            else:
                found.append((event.id, list(event.pieces)))
        elif isinstance(event, Failed | Finished):
            found.append((f"end of {event.id}", []))
    return [(key, join(all_pieces)) for key, all_pieces in found]


@pytest.mark.parametrize(
    "line", ['{"type":[]}', '{"type":{}}', "[" * 100_000, "3", '{"type":"Load","id":"\ud800"}']
)
def test_hostile_lines_are_protocol_errors(line: str) -> None:
    with pytest.raises(ProtocolError):
        decode(line)


def test_a_lone_surrogate_survives_the_wire() -> None:
    message = Load("a", "caf\udce9")
    assert decode(encode(message)) == message


def test_a_number_beyond_all_floats_is_refused() -> None:
    line = encode(Heartbeat(1.0)).replace(b"1.0", b"1" + b"0" * 400)
    with pytest.raises(ProtocolError, match=r"Heartbeat\.uptime"):
        decode(line)
