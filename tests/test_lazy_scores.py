"""Scores computed on demand."""

from __future__ import annotations

import itertools
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from oracle import random_table
from twbn import LazyScores, LocalScores, compute_scores
from twbn.errors import OptionError

TABLE = random_table(np.random.default_rng(21), 9, 150)
FAMILIES = [
    (child, parents)
    for child in range(9)
    for size in range(4)
    for parents in itertools.combinations([v for v in range(9) if v != child], size)
]


def test_both_kinds_of_scores_follow_one_protocol() -> None:
    assert isinstance(LazyScores(TABLE), LocalScores)
    assert isinstance(compute_scores(TABLE), LocalScores)


def test_a_score_is_computed_once() -> None:
    lazy = LazyScores(TABLE)
    for _ in range(3):
        for child, parents in FAMILIES:
            lazy.local(child, parents)
    assert lazy.n_computed == lazy.n_remembered == len(FAMILIES)


def test_little_memory_forgets_but_never_lies() -> None:
    lazy = LazyScores(TABLE, memory_limit=1e-9)
    full = compute_scores(TABLE, prune=False)
    for _ in range(2):
        for child, parents in FAMILIES:
            assert lazy.local(child, parents) == pytest.approx(full.local(child, parents))
    assert lazy.n_remembered <= 1024
    assert lazy.n_computed > len(FAMILIES)


def test_threads_get_the_same_answers() -> None:
    lazy, alone = LazyScores(TABLE), LazyScores(TABLE)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda family: lazy.local(*family), FAMILIES * 3))
    assert found == [alone.local(*family) for family in FAMILIES] * 3


def test_rules_exclude_families() -> None:
    lazy = LazyScores(TABLE, max_parents=2, forbidden=[("x2", "x1")], required=[("x3", "x4")])
    assert lazy.local(0, [1]) == -np.inf
    assert lazy.local(0, [2, 3, 4]) == -np.inf
    assert lazy.local(3, []) == -np.inf
    assert np.isfinite(lazy.local(3, [2]))


def test_totals_agree_with_a_precomputed_table() -> None:
    dag = [(), (0,), (0, 1), (2,), (), (4,), (4, 5), (3, 6), ()]
    full = compute_scores(TABLE, prune=False)
    assert LazyScores(TABLE).total(dag) == pytest.approx(full.total(dag))


def test_a_memory_limit_must_be_positive() -> None:
    with pytest.raises(OptionError, match="memory_limit must be a positive, finite number"):
        LazyScores(TABLE, memory_limit=0)
