"""Annealing: never wrong, and right where the optimum is known."""

from __future__ import annotations

import numpy as np
import pytest

from oracle import random_table
from test_search import best_bounded
from twbn import METHODS, Dag, ScoreTable, compute_scores
from twbn.search.anneal import anneal

INSTANCES = range(6)


def instance(seed: int) -> ScoreTable:
    """Return a table of 5 variables on which the treewidth bound costs something."""
    rng = np.random.default_rng([5, seed])
    table = random_table(rng, 5, 60 + 40 * seed, max_states=3)
    return compute_scores(table, max_parents=4, prune=bool(seed % 2))


@pytest.mark.parametrize("number", INSTANCES)
def test_annealing_finds_the_optimum_of_five_variables(number: int) -> None:
    scores = instance(number)
    for k in (1, 2, 3, 4):
        optimum = best_bounded(scores, k)
        for seed in range(10):
            result = anneal(scores, treewidth=k, max_iterations=40_000, seed=seed)
            assert result.score == pytest.approx(optimum, rel=1e-9)


@pytest.mark.parametrize("k", [1, 2, 3, 5, 8])
@pytest.mark.parametrize("n", [8, 40, 150])
def test_every_network_comes_with_its_proof(n: int, k: int) -> None:
    rng = np.random.default_rng(n)
    codes = rng.integers(0, 2, size=(60, n))
    codes[:, 1:] ^= codes[:, :-1] & rng.integers(0, 2, size=(60, n - 1))
    scores = compute_scores({f"v{i}": codes[:, i] for i in range(n)}, max_parents=2, score="aic")
    for seed in range(3):  # the result checks itself; a broken forest would not pass
        result = anneal(scores, treewidth=k, max_iterations=60_000, seed=seed)
        assert result.treewidth <= k
        assert result.score > scores.total(Dag.empty(n))


def test_annealing_goes_on_from_its_start() -> None:
    scores = instance(3)
    first = METHODS["tree"](scores, treewidth=2)
    result = anneal(scores, treewidth=2, max_iterations=1, start=first)
    assert result.score >= first.score
