"""Dual ascent on clusters, and branching on edges over the relaxation: bounds that are bounds."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from oracle import all_dags, random_graphs, random_table, treewidth_by_orders
from twbn import _core, compute_scores, learn, upper_bound
from twbn.search.bound import rounds
from twbn.search.bound.multipliers import Multipliers
from twbn.search.exact.live_subsets import live_subsets


@pytest.mark.parametrize("seed", range(6))
def test_an_ascent_is_a_bound_and_says_how(seed: int) -> None:
    rng = np.random.default_rng(seed)
    scores = compute_scores(
        random_table(rng, 5, 80), max_parents=3, score=("aic", "bdeu")[seed % 2]
    )
    local = [{parents: s for s, parents in scores.sets(v)} for v in range(5)]
    best = max(
        sum(local[v].get(parents, -np.inf) for v, parents in enumerate(dag)) for dag in all_dags(5)
    )
    ascent = _core.DualAscent(scores.index, seed)
    first = ascent.bound()
    assert ascent.climb(None)
    climbed = ascent.bound()
    ascent.improve(50, None)
    assert best - 1e-6 <= ascent.bound() <= climbed + 1e-9 <= first + 1e-9
    # The bound by its definition, from the clusters and prices alone.
    total = -sum(ascent.prices())
    for v in range(5):
        reduced = [
            score
            + sum(
                price
                for members, price in zip(ascent.clusters(), ascent.prices(), strict=True)
                if v in members and not set(parents) & set(members)
            )
            for parents, score in local[v].items()
        ]
        total += max(reduced)
    assert total == pytest.approx(ascent.bound())
    assert min(ascent.prices(), default=1.0) > 0


def test_prices_of_a_cluster_that_occurs_twice_are_added() -> None:
    prices = Multipliers.of_clusters([((0, 1), 1.0), ((1, 2), 2.0), ((0, 1), 0.5)])
    assert prices.clusters == {(0, 1): 1.5, (1, 2): 2.0}
    assert prices.constant(2) == -3.5


def test_branching_on_edges_lowers_the_bound_and_stays_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(4)
    codes = rng.integers(0, 2, (300, 9))
    for v in range(3, 9):  # each depends on three others, so that the best structure is wide
        codes[:, v] = codes[:, rng.permutation(v)[:3]].sum(axis=1) % 2 ^ (rng.random(300) < 0.1)
    scores = compute_scores(codes, max_parents=3)
    best = live_subsets(scores, treewidth=2).score
    monkeypatch.setattr(rounds, "MAX_SUBSET_VARIABLES", 0)  # as if there were many variables
    plain = upper_bound(scores, treewidth=8, branch=False)
    branched = upper_bound(scores, treewidth=2, edges=False, time_limit=5)
    assert best - 1e-6 <= branched.value < plain.value - 1e-3


@pytest.mark.parametrize("k", [1, 2, 3, 4, 5])
def test_treewidth_of_small_graphs(k: int) -> None:
    for graph in random_graphs(7, 40, seed=k):
        edges = [(u, v) for u, v in itertools.combinations(range(7), 2) if v in graph.neighbours[u]]
        expected = treewidth_by_orders(graph) <= k
        limit = _core.WidthLimit(k, math.inf, ())
        assert (_core.small_elimination_order(edges, limit) is not None) == expected
    with pytest.raises(ValueError, match="32 vertices"):
        _core.small_elimination_order([(0, 32)], _core.WidthLimit(2, math.inf, ()))


def test_auto_has_a_bound_however_short_the_time() -> None:
    rng = np.random.default_rng(0)
    result = learn(random_table(rng, 60, 100, max_states=2), max_parents=2, time_limit=1.0)
    assert np.isfinite(result.bound)
