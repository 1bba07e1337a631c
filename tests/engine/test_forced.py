"""Forcing a reply goes the way generating it goes."""

from __future__ import annotations

from engine.bench.forced import force
from engine.protocol import Generate, Load, Message, Sampling
from engine.session import Session


def test_a_greedy_reply_is_followed_and_another_is_not() -> None:
    session = Session()
    info = session.load(Load("l", "nano"), lambda *_: None, lambda: False)
    messages = [Message("user", "which key opens the settings")]
    reply = session.generate(
        Generate("g", messages, Sampling(temperature=0.0, max_tokens=40)), lambda _: None, lambda: False
    )
    assert reply.finish_reason == "stop"
    forced = force(session, messages, reply.text + "<|im_end|>", info.routing)
    assert forced.followed
    assert len(forced.log_probabilities) == len(reply.ids) + 1 == forced.steps + 1
    assert all(-3 < value <= 0 for value in forced.log_probabilities)
    assert forced.experts == forced.steps * info.experts_per_token * info.layers
    # the first decoded token has no prediction yet
    assert set(forced.counted.values()) == {forced.steps - 1}
    assert all(0 <= forced.agreement[layer] <= count for layer, count in forced.counted.items())
    other = force(session, messages, "Fish." + "<|im_end|>", info.routing)
    assert not other.followed
    assert sum(other.log_probabilities) < sum(forced.log_probabilities)
    exact = force(session, messages, reply.text + "<|im_end|>", "exact")
    assert exact.counted == {}
    session.close()
