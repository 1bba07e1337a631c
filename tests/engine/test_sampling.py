"""Sampling: each rule on its own, and the three faults seen elsewhere."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import UsageError
from engine.protocol import Sampling
from engine.sampling import Sampler, candidates, check, penalise


def logits_of(*probabilities: float) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    return np.log(np.array(probabilities, dtype=np.float32))


PLAIN = Sampling(temperature=1.0, top_k=0, top_p=1.0)


def test_greedy_takes_the_largest_and_the_lower_index_on_ties() -> None:
    sampler = Sampler(Sampling(temperature=0))
    assert sampler(np.array([0.0, 3.0, 3.0], dtype=np.float32)) == 1


def test_top_p_keeps_the_token_that_crosses_the_threshold() -> None:
    ids, probabilities = candidates(logits_of(0.5, 0.3, 0.2), Sampling(1.0, top_k=0, top_p=0.6))
    assert ids[probabilities > 0].tolist() == [0, 1]
    assert np.allclose(probabilities[:2], [0.625, 0.375])


def test_top_k_and_min_p() -> None:
    row = logits_of(0.4, 0.3, 0.2, 0.1)
    assert candidates(row, Sampling(1.0, top_k=2, top_p=1.0))[0].tolist() == [0, 1]
    ids, probabilities = candidates(row, Sampling(1.0, top_k=0, top_p=1.0, min_p=0.6))
    assert ids[probabilities > 0].tolist() == [0, 1]


def test_the_penalty_spares_the_prompt_and_pulls_both_signs_down() -> None:
    row = np.array([2.0, -2.0, 2.0], dtype=np.float32)
    assert penalise(row, [], 2.0).tolist() == [2.0, -2.0, 2.0]
    assert penalise(row, [0, 1], 2.0).tolist() == [1.0, -4.0, 2.0]
    sampler = Sampler(Sampling(temperature=0, repetition_penalty=4.0))
    assert [sampler(np.array([3.0, 2.0, 1.0], dtype=np.float32)) for _ in range(2)] == [0, 1]


def test_the_seed_is_used_once_per_reply() -> None:
    row = np.zeros(1000, dtype=np.float32)
    first, second = ([sampler(row) for _ in range(8)] for sampler in (Sampler(PLAIN_SEEDED), Sampler(PLAIN_SEEDED)))
    assert first == second
    assert len(set(first)) > 4  # seeding at every token would repeat one token


PLAIN_SEEDED = Sampling(temperature=1.0, top_k=0, top_p=1.0, seed=7)


def test_without_a_seed_one_is_chosen_and_reported() -> None:
    sampler = Sampler(PLAIN)
    row = np.zeros(1000, dtype=np.float32)
    drawn = [sampler(row) for _ in range(4)]
    again = Sampler(Sampling(temperature=1.0, top_k=0, top_p=1.0, seed=sampler.seed))
    assert [again(row) for _ in range(4)] == drawn


def test_rows_without_a_token_are_never_drawn() -> None:
    row = np.array([0.0, 100.0, 0.0, 100.0], dtype=np.float32)
    forbidden = np.array([1, 3])
    assert {Sampler(Sampling(1.0, seed=s), forbidden)(row) for s in range(20)} <= {0, 2}
    assert Sampler(Sampling(0), forbidden)(row) == 0
    assert row[1] == 100.0


@given(
    st.lists(st.floats(-20, 20, width=32), min_size=1, max_size=40),
    st.floats(0.05, 3),
    st.integers(0, 50),
    st.floats(0.01, 1),
    st.floats(0, 1),
)
def test_candidates_are_a_distribution_with_the_best_token_in_it(
    row: list[float], temperature: float, k: int, p: float, min_p: float
) -> None:
    logits = np.array(row, dtype=np.float32)
    ids, probabilities = candidates(logits, Sampling(temperature, top_k=k, top_p=p, min_p=min_p))
    assert np.isclose(probabilities.sum(), 1)
    assert logits[ids[0]] == logits.max() and probabilities[0] > 0
    assert (np.diff(probabilities) <= 1e-12).all()
    assert len(set(ids.tolist())) == len(ids)


@pytest.mark.parametrize(
    ("sampling", "named"),
    [
        (Sampling(temperature=-1), "temperature"),
        (Sampling(top_p=0), "top-p"),
        (Sampling(top_p=1.5), "top-p"),
        (Sampling(top_k=-1), "top-k"),
        (Sampling(max_tokens=0), "max-tokens"),
        (Sampling(seed=-3), "seed"),
        (Sampling(repetition_penalty=0), "repetition-penalty"),
        (Sampling(temperature=float("nan")), "temperature"),
    ],
)
def test_values_that_cannot_take_effect_are_refused_by_name(sampling: Sampling, named: str) -> None:
    with pytest.raises(UsageError, match=named):
        check(sampling)
