"""Bounds by blocks: never below the optimum, at any prices and for any blocks."""

from __future__ import annotations

import itertools
import math
import threading

import numpy as np
import pytest

import twbn
from oracle import random_table
from twbn import ScoreTable, _core, compute_scores, upper_bound
from twbn.deadline import Deadline
from twbn.search.bound import blocks as blocks_module
from twbn.search.bound import rounds as rounds_module
from twbn.search.bound.blocks import BlockBound
from twbn.search.bound.multipliers import Multipliers
from twbn.search.bound.partition import partition, restricted, ties
from twbn.search.bound.pricing import Pricing
from twbn.search.exact.bags import dp


def table_of(seed: int, n: int = 9, score: str = "loglik") -> ScoreTable:
    return compute_scores(random_table(np.random.default_rng(seed), n, 150), score=score)


def prices_of(scores: ScoreTable, rng: np.random.Generator, n_clusters: int) -> Multipliers:
    n = scores.n_variables
    clusters = {}
    for _ in range(n_clusters):
        members = rng.choice(n, int(rng.integers(2, n + 1)), replace=False)
        clusters[tuple(sorted(members.tolist()))] = float(rng.exponential(3.0))
    return Multipliers(clusters)


def test_no_prices_and_no_blocks_give_a_bound_below_the_optimum(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(blocks_module, "PROPOSALS", 2_000)
    rng = np.random.default_rng(0)
    n_better = 0
    for seed in range(4):
        scores = table_of(seed, n=8)
        for k in (1, 2, 3):
            optimum = dp(scores, treewidth=k).score
            prices = prices_of(scores, rng, 5)
            pricing = Pricing(scores, k, 1, Deadline())
            before = pricing.bound_at(prices)[1]
            blocks = BlockBound(
                scores,
                pricing,
                prices,
                k,
                before,
                n_jobs=1,
                deadline=Deadline(60.0),
                seed=seed,
                stop=lambda: None,
            )
            blocks._size = int(rng.integers(3, 9))
            found = list(blocks.bounds())
            assert min(found, default=math.inf) >= optimum - 1e-7 * abs(optimum)
            n_better += min(found, default=math.inf) < before - 1e-6
    assert n_better >= 8


def test_one_block_of_all_variables_is_solved() -> None:
    scores = table_of(1)
    pricing = Pricing(scores, 2, 1, Deadline())
    before = pricing.bound_at(Multipliers())[1]
    blocks = BlockBound(
        scores,
        pricing,
        Multipliers(),
        2,
        before,
        n_jobs=1,
        deadline=Deadline(60.0),
        seed=0,
        stop=lambda: None,
    )
    optimum = dp(scores, treewidth=2).score
    assert list(blocks.bounds())[-1] == pytest.approx(optimum)


def test_the_families_of_a_block_are_the_best_around_it() -> None:
    scores = table_of(3, n=7)
    values = np.random.default_rng(0).normal(size=scores.n_sets)
    block = [1, 2, 4, 6]
    part = restricted(scores, block, values)
    assert part.names == tuple(scores.names[v] for v in block)
    for i, child in enumerate(block):
        expected: dict[tuple[int, ...], float] = {}
        for position in scores.positions(child):
            inside = tuple(block.index(p) for p in scores.parents_at(position) if p in block)
            expected[inside] = max(expected.get(inside, -math.inf), float(values[position]))
        assert {parents: score for score, parents in part.sets(i)} == expected


def test_ties_are_those_of_families_near_the_top() -> None:
    scores = table_of(4, n=6)
    expected = np.zeros((6, 6))
    for child in range(6):
        own = np.array(scores.positions(child))
        below = scores.scores[own].max() - scores.scores[own]
        weights = np.where(below < 7.0, np.exp(-below), 0.0)
        for position, weight in zip(own, weights / weights.sum(), strict=True):
            for u, v in itertools.permutations((child, *scores.parents_at(int(position))), 2):
                expected[u, v] += weight
    np.testing.assert_allclose(ties(scores, scores.scores), expected)


def test_blocks_are_a_partition_along_strong_ties() -> None:
    tied = np.full((9, 9), 0.1)
    for group in ([0, 3, 6], [1, 4, 7], [2, 5, 8]):
        tied[np.ix_(group, group)] = 1.0
    np.fill_diagonal(tied, 0.0)
    assert sorted(partition(tied, 3)) == [[0, 3, 6], [1, 4, 7], [2, 5, 8]]
    assert sorted(itertools.chain(*partition(tied, 4))) == list(range(9))
    assert partition(tied, 9) == [list(range(9))]


def solved(
    scores: ScoreTable, k: int, prices: Multipliers, known: float = -math.inf, gib: float = 1.0
) -> tuple[str, float]:
    """How live subsets found by prices end, and the score of the structure that they find."""
    masks = [sum(1 << v for v in members) for members in prices.clusters]
    outcome, families, *_ = _core.live_subsets(
        scores.index,
        scores.scores,
        _core.WidthLimit(k, math.inf, ()),
        known,
        0.0,
        masks,
        list(prices.clusters.values()),
        int(gib * 2**30),
        False,
        2,
        None,
        None,
    )
    return outcome, float(scores.scores[families].sum()) if families else -math.inf


@pytest.mark.parametrize("score", ["loglik", "bic"])
def test_live_subsets_found_by_prices_give_the_optimum(score: str) -> None:
    rng = np.random.default_rng(5)
    for seed in range(6):
        scores = table_of(seed, n=7, score=score)
        for k in (1, 2, 3, 6):
            optimum = dp(scores, treewidth=k, prune=False).score
            for n_clusters in (1, 4, 70):
                prices = prices_of(scores, rng, n_clusters)
                found = solved(scores, k, prices, known=optimum - 20.0)
                assert found[0] == "solved"
                assert found[1] == pytest.approx(optimum, rel=1e-12)
            assert solved(scores, k, prices, known=optimum + 1e-6) == ("solved", -math.inf)


def test_good_prices_leave_few_subsets_of_many_variables() -> None:
    rng = np.random.default_rng(2)
    rows = np.cumsum(rng.random((400, 30)) < 0.1, axis=1) % 2  # a chain
    scores = compute_scores(rows, max_parents=2, score="bic")
    bound = upper_bound(scores, treewidth=1, branch=False, time_limit=60.0)
    optimum = twbn.learn(scores, treewidth=1).score
    outcome, found = solved(scores, 1, bound.multipliers, known=optimum - 0.5)
    assert outcome == "solved"
    assert found == pytest.approx(optimum, rel=1e-12)


def test_live_subsets_found_by_prices_keep_the_memory_limit() -> None:
    # Prices of nothing exclude nothing: all 2^20 subsets would be live.
    scores = table_of(0, n=20, score="bic")
    nothing = Multipliers({tuple(range(20)): 0.0})
    assert solved(scores, 19, nothing, gib=0.001)[0] == "out_of_memory"


def test_blocks_lower_the_bound_of_many_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    # As if nine variables were too many for the program over subsets, and a block had at most six.
    monkeypatch.setattr(rounds_module, "MAX_SUBSET_VARIABLES", 0)
    monkeypatch.setattr(rounds_module, "MAX_EDGE_TREEWIDTH", 0)
    monkeypatch.setattr(blocks_module, "MAX_BLOCK", 8)
    scores = table_of(5)
    optimum = dp(scores, treewidth=2).score
    without = upper_bound(scores, treewidth=2, branch=False, time_limit=60.0)
    monkeypatch.setattr(rounds_module.BoundSearch, "_branch", lambda *_: None)
    found = upper_bound(scores, treewidth=2, time_limit=60.0)
    assert optimum - 1e-7 * abs(optimum) <= found.value < without.value - 1.0


def test_blocks_end_when_told_to() -> None:
    scores = table_of(1)

    class Enough(Exception):  # noqa: N818
        pass

    def stop() -> None:
        raise Enough

    pricing = Pricing(scores, 2, 1, Deadline())
    blocks = BlockBound(
        scores,
        pricing,
        Multipliers(),
        2,
        0.0,
        n_jobs=1,
        deadline=Deadline(),
        seed=0,
        stop=stop,
    )
    with pytest.raises(Enough):
        list(blocks.bounds())
    told = threading.Event()
    told.set()
    assert upper_bound(scores, treewidth=2, stop=told).status == "interrupted"
