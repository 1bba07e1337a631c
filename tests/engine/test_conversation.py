"""What a new prompt reuses of the live conversation, on states that only count."""

from __future__ import annotations

import mlx.core as mx
from hypothesis import given
from hypothesis import strategies as st

from engine.conversation import LiveConversation
from engine.models.cache import ModelState, Recurrent, TokenCache
from engine.prefill import chunks

KEEP = 2


def fresh() -> ModelState:
    """One cache and one recurrent layer; the recurrent state is the sum of all ids so far."""
    return ModelState([TokenCache(1, (4,), mx.float32), Recurrent((), mx.array(0.0))])


def feed(live: LiveConversation, ids: list[int]) -> None:
    """What a model does to the state, in small."""
    cache, recurrent = live.state.layers
    assert isinstance(cache, TokenCache) and isinstance(recurrent, Recurrent)
    if ids:
        cache.append(mx.array(ids, dtype=mx.float32)[None, :, None] + mx.zeros((1, 1, 4)))
    recurrent.state = recurrent.state + sum(ids)
    live.state.length += len(ids)
    live.advance(ids)


def check(live: LiveConversation) -> None:
    """The state is what its ids make of it, and nothing else."""
    cache, recurrent = live.state.layers
    assert isinstance(cache, TokenCache) and isinstance(recurrent, Recurrent)
    assert cache.length == live.state.length == len(live.ids)
    assert recurrent.state.item() == sum(live.ids)


def test_a_prompt_continues_the_live_state() -> None:
    live = LiveConversation(fresh, KEEP)
    feed(live, [1, 2, 3])
    assert live.resume([1, 2, 3, 4]) == 3
    check(live)


def test_one_token_is_always_left_to_compute() -> None:
    live = LiveConversation(fresh, KEEP)
    feed(live, [1, 2])
    live.mark()
    feed(live, [3])
    assert live.resume([1, 2, 3]) == 2
    check(live)


def test_a_prompt_that_differs_goes_back_to_a_kept_state_or_begins_anew() -> None:
    live = LiveConversation(fresh, KEEP)
    feed(live, [1, 2])
    live.mark()
    feed(live, [3, 4])
    assert live.resume([1, 2, 9, 9]) == 2
    check(live)
    assert live.resume([7, 7]) == 0
    assert live.ids == []


def test_only_the_last_states_are_kept() -> None:
    live = LiveConversation(fresh, KEEP)
    for token in (1, 2, 3):
        feed(live, [token])
        live.mark()
    feed(live, [4])
    assert live.resume([1, 9]) == 0
    live.reset()
    for token in (1, 2, 3):
        feed(live, [token])
        live.mark()
    assert live.resume([1, 2, 9]) == 2


def test_back_to_kept_undoes_what_came_after() -> None:
    live = LiveConversation(fresh, KEEP)
    feed(live, [1, 2])
    live.mark()
    feed(live, [3, 4, 5])
    live.back_to_kept()
    assert live.ids == [1, 2]
    check(live)
    LiveConversation(fresh, KEEP).back_to_kept()


@given(st.lists(st.tuples(st.lists(st.integers(0, 2), min_size=1, max_size=6), st.booleans()), max_size=12))
def test_random_prompts_never_find_a_state_that_is_not_theirs(
    turns: list[tuple[list[int], bool]],
) -> None:
    live = LiveConversation(fresh, KEEP)
    for prompt, mark in turns:
        reused = live.resume(prompt)
        assert reused < len(prompt) and live.ids == prompt[:reused]
        check(live)
        feed(live, prompt[reused:])
        if mark:
            live.mark()
        check(live)


@given(st.integers(0, 50), st.integers(1, 200), st.integers(1, 64), st.lists(st.integers(0, 260), max_size=4))
def test_chunks_cover_the_rest_once_and_end_at_every_mark(
    start: int, more: int, size: int, marks: list[int]
) -> None:
    end = start + more
    found = list(chunks(start, end, size, marks))
    assert [a for a, _ in found] == [start, *(b for _, b in found[:-1])]
    assert found[-1][1] == end and all(0 < b - a <= size for a, b in found)
    assert {mark for mark in marks if start < mark < end} <= {b for _, b in found}
