"""Annealing: never wrong, and right where the optimum is known."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pytest

from oracle import all_dags, random_table, treewidth_by_orders
from twbn import METHODS, Dag, LazyScores, ScoreTable, compute_scores
from twbn.search.heuristic.anneal import anneal

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from twbn import Graph

#: Tables on which annealing is compared with every network there is.
N_INSTANCES = 200


def instance(seed: int) -> ScoreTable:
    """Return a table of 5 variables on which the treewidth bound costs something."""
    rng = np.random.default_rng([5, seed])
    table = random_table(rng, 5, 60 + 40 * (seed % 7), max_states=3)
    score = ("bdeu", "aic", "bic")[seed % 3]
    return compute_scores(table, score=score, max_parents=4, prune=bool(seed % 2))


@cache
def networks_of_five() -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the parents of every network of 5 variables, as bits, and its treewidth."""
    dags = all_dags(5)
    masks = np.array([[sum(1 << p for p in parents) for parents in dag] for dag in dags])
    widths: dict[Graph, int] = {}
    found = []
    for dag in dags:
        graph = Dag(dag).moral_graph()
        if graph not in widths:
            widths[graph] = treewidth_by_orders(graph)
        found.append(widths[graph])
    return masks, np.array(found)


def optima(scores: ScoreTable) -> list[float]:
    """Return the best score at treewidth 1, 2, 3 and 4, over every network."""
    masks, widths = networks_of_five()
    local = np.full((5, 32), -np.inf)
    for v in range(5):
        for score, parents in scores.sets(v):
            local[v, sum(1 << p for p in parents)] = score
    totals = sum(local[v, masks[:, v]] for v in range(5))
    return [float(np.max(totals[widths <= k])) for k in (1, 2, 3, 4)]


@pytest.mark.slow
def test_annealing_finds_the_optimum_of_five_variables() -> None:
    for number in range(N_INSTANCES):
        scores = instance(number)
        for k, optimum in enumerate(optima(scores), start=1):
            for seed in (number, 1000 + number):
                result = anneal(scores, treewidth=k, max_iterations=10_000, seed=seed)
                assert result.score == pytest.approx(optimum, rel=1e-9), (number, k, seed)


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


def test_lazy_scores_of_many_variables_start_at_once() -> None:
    rng = np.random.default_rng(3)
    scores = LazyScores({f"v{i}": rng.integers(0, 2, 50) for i in range(400)}, max_parents=2)
    result = anneal(scores, treewidth=3, max_iterations=2000)
    assert scores.n_computed < 50 * 400 + 2 * 2000 + 1000
    assert result.treewidth <= 3


def test_improvements_are_told_while_the_search_runs() -> None:
    rng = np.random.default_rng(4)
    codes = rng.integers(0, 2, size=(500, 40))
    codes[:, 2:] ^= codes[:, :-2] & codes[:, 1:-1]
    scores = compute_scores({f"v{i}": codes[:, i] for i in range(40)}, max_parents=2)
    told: list[float] = []
    result = anneal(
        scores, treewidth=3, time_limit=4.0, on_improvement=lambda best: told.append(best.score)
    )
    assert told
    assert told == sorted(told)
    assert told[-1] <= result.score
