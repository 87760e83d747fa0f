"""Scores by a function of the user's: the same rules and limits as the built-in ones."""

from __future__ import annotations

import numpy as np
import pytest

import twbn
from twbn.errors import MemoryLimitError

RNG = np.random.default_rng(1)
CODES = RNG.integers(0, 2, (60, 7))
CODES[:, 3] = np.where(RNG.random(60) < 0.8, CODES[:, 1] ^ CODES[:, 2], CODES[:, 3])
TABLE = twbn.Table.from_codes(CODES)
BUILT_IN = twbn.LazyScores(TABLE, max_parents=None)


def bdeu(_: twbn.Table, child: int, parents: tuple[int, ...]) -> float:
    return BUILT_IN.local(child, parents)


@pytest.mark.parametrize("budget", [0, 1, 5])
def test_a_budget_limits_the_sets_of_each_variable(budget: int) -> None:
    asked: list[tuple[int, int]] = []

    def counted(table: twbn.Table, child: int, parents: tuple[int, ...]) -> float:
        asked.append((child, len(parents)))
        return bdeu(table, child, parents)

    scores = twbn.compute_scores(TABLE, score=counted, budget=budget, prune=False)
    assert scores.info.status == "budget"
    for child in range(7):
        assert sum(c == child and size > 1 for c, size in asked) == budget
        sizes = [len(parents) for _, parents in scores.sets(child)]
        assert (sizes.count(0), sizes.count(1), len(sizes)) == (1, 6, 7 + budget)


def test_a_budget_goes_to_the_most_promising_sets() -> None:
    scores = twbn.compute_scores(TABLE, score=bdeu, budget=1, max_parents=2, prune=False)
    for child in range(7):
        (found,) = [parents for _, parents in scores.sets(child) if len(parents) == 2]
        single = sorted(set(range(7)) - {child}, key=lambda p: -BUILT_IN.local(child, (p,)))
        assert found == tuple(sorted(single[:2]))


def test_an_ample_budget_finds_all_sets() -> None:
    everything = twbn.compute_scores(TABLE, score=bdeu, max_parents=3)
    found = twbn.compute_scores(TABLE, score=bdeu, max_parents=3, budget=10**6)
    assert found.equals(everything)


def test_a_budget_keeps_to_the_rules() -> None:
    scores = twbn.compute_scores(
        TABLE, score=bdeu, budget=20, required=[("x1", "x2")], forbidden=[("x3", "x4")]
    )
    assert all(0 in parents for _, parents in scores.sets(1))
    assert not [parents for _, parents in scores.sets(3) if 2 in parents]


def test_memory_is_predicted() -> None:
    with pytest.raises(MemoryLimitError, match="scored by a function need"):
        twbn.compute_scores(TABLE, score=bdeu, max_parents=None, memory_limit=1e-5)


def test_a_budget_that_has_no_time_says_what_is_complete() -> None:
    scores = twbn.compute_scores(TABLE, score=bdeu, budget=3, time_limit=1e-9)
    assert (scores.info.status, scores.info.complete_size, scores.n_sets) == ("time_limit", 0, 7)
