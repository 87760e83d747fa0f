"""Upper bounds: never below the optimum, whenever they are stopped."""

from __future__ import annotations

import math
import threading

import numpy as np
import pytest

from conftest import shared_path, with_time_enough
from oracle import random_table
from twbn import LazyScores, SearchResult, compute_scores, learn, read_table, upper_bound
from twbn.deadline import Deadline
from twbn.errors import OptionError
from twbn.search.bound import rounds as bound_module
from twbn.search.bound.companion import beside_bound
from twbn.search.bound.multipliers import Multipliers, most_edges
from twbn.search.bound.relaxation import Relaxation
from twbn.search.exact.bags import dp


@pytest.mark.slow
@pytest.mark.parametrize("score", ["bdeu", "loglik"])
@pytest.mark.parametrize("seed", range(3))
def test_bounds_hold_at_every_moment(
    seed: int, score: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    scores = compute_scores(random_table(np.random.default_rng(seed), 8, 150), score=score)
    for by_subsets in (True, False):
        monkeypatch.setattr(bound_module, "MAX_SUBSET_VARIABLES", 25 if by_subsets else 0)
        for k in (1, 2, 3, 4, 7):
            optimum = dp(scores, treewidth=k).score
            for edges in (None, True, False):
                found = upper_bound(scores, treewidth=k, edges=edges, branch=False)
                values = [p.bound for p in found.trace]
                assert found.status == "complete"
                assert min(values) >= optimum - 1e-7 * abs(optimum)
                assert values == sorted(values, reverse=True)
                assert found.value == values[-1]


def test_the_relaxation_is_tight_where_nothing_is_fractional() -> None:
    scores = compute_scores(random_table(np.random.default_rng(4), 9, 200))
    best = dp(scores, treewidth=8).score
    assert upper_bound(scores, treewidth=8).value == pytest.approx(best)


def test_rows_on_edges_lower_the_bound_where_edges_are_wanted() -> None:
    scores = compute_scores(random_table(np.random.default_rng(4), 9, 200), score="loglik")
    without = upper_bound(scores, treewidth=1, edges=False).value
    with_rows = upper_bound(scores, treewidth=1, edges=True).value
    optimum = dp(scores, treewidth=1).score
    assert optimum - 1e-7 <= with_rows < without


def test_most_edges_are_those_of_a_k_tree() -> None:
    assert [most_edges(n, 2) for n in (3, 4, 5)] == [3, 5, 7]


def test_any_prices_give_a_bound() -> None:
    # The Lagrangian is valid for arbitrary prices, not only for those of a solved program.
    scores = compute_scores(random_table(np.random.default_rng(6), 6, 100), score="aic")
    rng = np.random.default_rng(0)
    for k in (1, 2, 3):
        optimum = dp(scores, treewidth=k).score
        goal = bound_module.Goal(k, Deadline(), 0, 1, -math.inf, None, False, None)
        search = bound_module.BoundSearch(scores, goal, None)
        for _ in range(50):
            arcs = np.triu(rng.random((6, 6)) * rng.integers(0, 5), 1)
            members = tuple(sorted(rng.choice(6, k + 2, replace=False).tolist()))
            child, a, b = rng.permutation(6)[:3].tolist()
            prices = Multipliers(
                {members: rng.random() * 9, (0, 1, 2, 3, 4, 5): rng.random()},
                arcs + arcs.T,
                {(child, min(a, b), max(a, b)): rng.random() * 3},
                {members: rng.random() * 2},
            )
            assert search._pricing.bound_at(prices)[1] >= optimum - 1e-9
            assert search._subset_bound(prices) >= optimum - 1e-9


def test_a_bound_stops_when_it_is_good_enough_or_told_to() -> None:
    scores = compute_scores(random_table(np.random.default_rng(4), 9, 200), score="loglik")
    assert upper_bound(scores, treewidth=2, good_enough=0.0).status == "good_enough"
    stop = threading.Event()
    stop.set()
    assert upper_bound(scores, treewidth=2, stop=stop).status == "interrupted"
    assert upper_bound(scores, treewidth=2, time_limit=1e-9).status == "time_limit"


def test_a_dead_solver_leaves_the_bound_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    scores = compute_scores(random_table(np.random.default_rng(4), 9, 200), score="loglik")
    optimum = dp(scores, treewidth=2).score
    solve = Relaxation.solve

    def die(self: Relaxation, *arguments: object) -> None:
        if self.n_rows > 50:
            self._process._process.kill()
        solve(self, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(Relaxation, "solve", die)
    found = upper_bound(scores, treewidth=2)
    assert found.status == "solver_died"
    assert "ended with code -9" in found.notes[0]
    assert found.value >= optimum


def test_sets_that_were_not_scored_are_allowed_for() -> None:
    table = random_table(np.random.default_rng(4), 12, 200)
    some = compute_scores(table, max_parents=3, budget=20)
    optimum = dp(compute_scores(table, max_parents=3), treewidth=2, time_limit=60).score
    assert upper_bound(some, treewidth=2).value >= optimum


def test_a_search_beside_a_bound_has_both() -> None:
    table = random_table(np.random.default_rng(4), 30, 200)
    scores = compute_scores(table, max_parents=2)

    def found(seconds: float) -> SearchResult:
        return beside_bound(
            lambda _: learn(scores, treewidth=2, method="anneal", time_limit=seconds),
            scores,
            treewidth=2,
            time_limit=seconds,
        )

    result = with_time_enough(found, lambda result: result.bound < scores.trivial_bound())
    assert result.score <= result.bound < scores.trivial_bound()
    points = result.trace
    assert [p.bound for p in points] == sorted((p.bound for p in points), reverse=True)
    assert [p.score for p in points] == sorted(p.score for p in points)


def test_lazy_scores_have_a_bound_too() -> None:
    lazy = LazyScores(random_table(np.random.default_rng(4), 6, 80), max_parents=2)
    assert (
        upper_bound(lazy, treewidth=2).value >= learn(lazy, treewidth=2, method="dp").score - 1e-9
    )


def test_options_that_make_no_sense_are_refused() -> None:
    scores = compute_scores(random_table(np.random.default_rng(4), 6, 80))
    with pytest.raises(OptionError, match="treewidth must be a whole number"):
        upper_bound(scores, treewidth=0)


@pytest.mark.slow
def test_wdbc_is_within_a_percent_and_a_half() -> None:
    scores = compute_scores(read_table(shared_path("uci/binary/wdbc.csv")), max_parents=3)
    found = upper_bound(scores, treewidth=4, time_limit=60, good_enough=-6860.0)
    assert found.status == "good_enough"


def test_variables_that_must_have_parents_have_a_bound_too() -> None:
    rng = np.random.default_rng(2)
    table = random_table(rng, 10, 100)
    required = [(table.names[v], table.names[v + 1]) for v in range(9)]
    scores = compute_scores(table, required=required, prune=False)
    found = upper_bound(scores, treewidth=9, edges=True)
    assert found.status == "complete"
    assert found.value >= dp(scores, treewidth=9).score - 1e-7
