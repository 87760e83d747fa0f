"""Exact methods against brute force and the known optima."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest

from conftest import shared_path
from oracle import all_dags, random_table
from twbn import Dag, LazyScores, ScoreTable, Table, compute_scores, learn, read_table, treewidth
from twbn.errors import MemoryLimitError, OptionError
from twbn.search import best_unbounded
from twbn.search.dynamic import dp


@cache
def width_of(parents: tuple[tuple[int, ...], ...]) -> int:
    return treewidth(Dag(parents).moral_graph()).upper


def optima(scores: ScoreTable) -> list[float]:
    """Return the best score over every DAG of treewidth at most 1, 2, … n - 1."""
    n = scores.n_variables
    local = [{parents: s for s, parents in scores.sets(v)} for v in range(n)]
    best = [-math.inf] * n
    for dag in all_dags(n):
        total = sum(local[v].get(p, -math.inf) for v, p in enumerate(dag))
        if total > min(best[1:]):
            width = max(width_of(dag), 1)
            best[width] = max(best[width], total)
    return list(np.maximum.accumulate(best[1:]))


@pytest.mark.parametrize("seed", range(8))
def test_every_exact_method_agrees_with_brute_force(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = random_table(rng, 5, int(rng.integers(10, 150)), max_states=3)
    scores = compute_scores(table, max_parents=4, score=("bdeu", "bic", "aic", "k2")[seed % 4])
    expected = optima(scores)
    for k in range(1, 5):
        for prune in (True, False):
            result = dp(scores, treewidth=k, prune=prune)
            assert result.status == "optimal"
            assert result.gap == 0.0
            assert result.score == pytest.approx(expected[k - 1], abs=1e-6)
    assert best_unbounded(scores)[1] == pytest.approx(expected[-1])


@pytest.mark.parametrize("n", [7, 8])
def test_pruning_changes_nothing_but_the_time(n: int) -> None:
    for seed in range(3):
        scores = compute_scores(random_table(np.random.default_rng(seed + 50), n, 100))
        for k in (1, 2, 3):
            pruned = dp(scores, treewidth=k)
            full = dp(scores, treewidth=k, prune=False)
            assert pruned.score == pytest.approx(full.score, abs=1e-9)
            assert pruned.n_iterations <= full.n_iterations
            sampled = learn(scores, treewidth=k, max_iterations=3000)
            assert sampled.score <= pruned.score + 1e-9


def test_treewidth_one_agrees_with_the_best_tree() -> None:
    for seed in range(4):
        scores = compute_scores(random_table(np.random.default_rng(seed), 9, 120))
        best = learn(scores, treewidth=1, method="tree").score
        assert dp(scores, treewidth=1).score == pytest.approx(best)


@pytest.mark.parametrize(
    ("name", "k", "optimum"),
    [
        ("nursery", 2, -72371.9697),
        ("nursery", 3, -72159.2738),
        ("nursery", 5, -72159.2738),
        ("breast", 2, -2688.4321),
        ("breast", 3, -2685.7963),
        ("breast", 4, -2685.2475),
        ("housing", 4, -3159.1071),
    ],
)
def test_the_papers_small_sets_are_solved_to_their_known_optima(
    name: str, k: int, optimum: float
) -> None:
    scores = compute_scores(read_table(shared_path(f"uci/binary/{name}.csv")))
    result = dp(scores, treewidth=k)
    assert result.status == "optimal"
    assert result.score == pytest.approx(optimum, abs=5e-5)


@pytest.mark.parametrize(
    ("name", "optimum"),
    [("zoo", -561.5481), ("letter", -183972.7764), ("mushroom", -55145.1878)],
)
def test_networks_without_a_bound_reach_their_known_optima(name: str, optimum: float) -> None:
    scores = compute_scores(read_table(shared_path(f"uci/binary/{name}.csv")))
    dag, score = best_unbounded(scores)
    assert score == pytest.approx(optimum, abs=5e-5)
    assert scores.total(dag) == score


def test_a_time_limit_leaves_a_network_and_a_bound() -> None:
    # Without a penalty every variable wants three parents: the bound binds, and proofs are hard.
    scores = compute_scores(random_table(np.random.default_rng(3), 14, 300), score="loglik")
    result = dp(scores, treewidth=4, time_limit=1.5)
    assert result.status == "time_limit"
    assert result.score < result.bound
    assert result.bound == pytest.approx(best_unbounded(scores)[1])


def test_little_memory_leaves_a_network_and_a_bound() -> None:
    scores = compute_scores(random_table(np.random.default_rng(3), 12, 300), score="loglik")
    result = dp(scores, treewidth=3, memory_limit=0.01)
    assert result.status == "memory_limit"
    assert result.score < result.bound


def test_too_many_variables_are_refused_with_what_fits() -> None:
    table = Table.from_codes(np.random.default_rng(0).integers(0, 2, (30, 40)))
    scores = compute_scores(table, max_parents=1)
    with pytest.raises(MemoryLimitError, match=r"over 40 variables needs .* 1\.0 GiB take 23"):
        dp(scores, treewidth=2, memory_limit=1)
    with pytest.raises(MemoryLimitError, match="too many to compute one by one"):
        dp(LazyScores(table.select(table.names[:20]), max_parents=None), treewidth=2)


def test_required_arcs_that_form_a_cycle_are_explained() -> None:
    sets: list[dict[tuple[int, ...], float]] = [{(1,): -1.0}, {(0,): -1.0}, {(): -1.0}]
    with pytest.raises(OptionError, match="no network"):
        dp(ScoreTable.from_sets(["a", "b", "c"], sets), treewidth=1)


def test_a_start_is_kept_when_nothing_beats_it() -> None:
    scores = compute_scores(random_table(np.random.default_rng(3), 8, 300))
    best = dp(scores, treewidth=2)
    again = dp(scores, treewidth=2, start=best)
    assert again.status == "optimal"
    assert again.score == pytest.approx(best.score)
