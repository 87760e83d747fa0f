"""Scores on demand: when `learn` takes them, what it then finds, and with which candidates."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from oracle import random_table
from test_search import untimed
from twbn import LazyScores, Table, TreewidthBN, compute_scores, learn
from twbn.learning import scoring
from twbn.scores import lazy as lazy_module


@pytest.fixture
def few_beforehand(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if no parent sets could be scored beforehand."""
    for name in ("BEFOREHAND", "BEFOREHAND_A_SECOND", "BEFOREHAND_AN_ITERATION"):
        monkeypatch.setattr(scoring, name, 0)


def voting(n: int, size: int, rows: int = 3000) -> Table:
    """Return a table whose last column is what most of `size` others are, but for some noise."""
    rng = np.random.default_rng(size)
    codes = rng.integers(0, 2, (rows, n)).astype(np.int32)
    codes[:, -1] = (2 * codes[:, :size].sum(axis=1) > size) ^ (rng.random(rows) < 0.02)
    return Table.from_codes(codes, n_states=[2] * n)


@pytest.mark.usefixtures("few_beforehand")
def test_both_ways_of_scoring_find_the_same_optimum() -> None:
    table = random_table(np.random.default_rng(0), 7, 200, max_states=3)
    known = learn(compute_scores(table, max_parents=3), treewidth=3, method="exact")
    for method in ("auto", "anneal"):
        found = learn(table, treewidth=3, method=method, max_iterations=60_000)
        assert any("scored on demand" in note for note in found.notes)
        assert found.score == pytest.approx(known.score)
        assert found.verify(compute_scores(table, max_parents=3)) == []


@pytest.mark.usefixtures("few_beforehand")
@pytest.mark.parametrize("size", [4, 5])
def test_families_are_as_large_as_the_treewidth_allows(size: int) -> None:
    table = voting(8, size)
    free = learn(table, treewidth=5, max_iterations=150_000)
    capped = learn(table, treewidth=5, max_parents=3, max_iterations=150_000)
    assert max(map(len, free.dag.parents)) == size
    assert max(map(len, capped.dag.parents)) <= 3
    assert free.score > capped.score + 50


def test_tables_are_scored_beforehand_where_that_is_quick() -> None:
    table = voting(8, 4)
    result = learn(table, treewidth=4, time_limit=2)
    assert not any("on demand" in note for note in result.notes)
    assert result.status == "optimal"
    assert max(map(len, result.dag.parents)) == 4


def test_searches_that_need_all_scores_take_few_parents() -> None:
    table = random_table(np.random.default_rng(1), 60, 100, max_states=2)
    result = learn(table, treewidth=8, method="sample", time_limit=2)
    assert any("at most 3 parents, because" in note for note in result.notes)
    assert max(map(len, result.dag.parents)) <= 3


def test_few_parents_are_as_many_as_are_required(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scoring, "MAX_RATE", 1.0)  # too slow for any table of all sets
    table = random_table(np.random.default_rng(1), 9, 60, max_states=2)
    *parents, child = table.names[:5]
    required = [(parent, child) for parent in parents]
    result = learn(table, treewidth=6, method="sample", required=required, time_limit=1)
    assert result.parents[child] == parents


@pytest.mark.usefixtures("few_beforehand")
def test_workers_do_not_matter_for_a_budget_in_iterations() -> None:
    table = random_table(np.random.default_rng(2), 20, 150, max_states=3)
    options: dict[str, Any] = {"treewidth": 3, "max_iterations": 40_000, "seed": 3}
    found = {untimed(learn(table, **options, n_jobs=jobs)) for jobs in (1, 2, 3)}
    assert len(found) == 1
    options |= {"method": "anneal", "chains": 5}
    found = {untimed(learn(table, **options, n_jobs=jobs)) for jobs in (1, 2, 3)}
    assert len(found) == 1


@pytest.mark.usefixtures("few_beforehand")
def test_estimators_score_on_demand() -> None:
    rows = voting(8, 4).codes
    model = TreewidthBN(treewidth=4, random_state=0, max_iterations=100_000).fit(rows)
    assert max(map(len, model.result_.dag.parents)) == 4


def test_single_parents_are_the_best_by_definition() -> None:
    rng = np.random.default_rng(4)
    table = random_table(rng, 9, 200, max_states=12)  # some columns have too many states for bits
    a, b, c = table.names[:3]
    for options in ({}, {"score": "k2"}, {"forbidden": [(a, b)], "roots": [c]}):
        given: dict[str, Any] = options
        scores = LazyScores(table, max_parents=2, **given)
        found = scores.find_single_parents(2)
        assert found is not None
        for v in range(9):
            listed = found.parents[found.offsets[v] : found.offsets[v + 1]].tolist()
            others = [u for u in range(9) if u != v]
            allowed = [u for u in others if scores.local(v, [u]) > -np.inf]
            values = [scores.local(v, [u]) for u in listed]
            assert sorted(listed) == allowed
            assert all(x >= y - 1e-9 for x, y in itertools.pairwise(values))


def test_many_rows_are_sampled_for_candidates_and_time_is_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = random_table(np.random.default_rng(5), 30, 400, max_states=3)
    monkeypatch.setattr(lazy_module, "MAX_SINGLES_ROWS", 100)
    found = LazyScores(table).find_single_parents()
    assert found is not None
    assert len(found.parents) == 30 * 29
    late = LazyScores(table)
    none = late.find_single_parents(1, 1e-9)
    assert none is not None
    # Candidates are then drawn from all variables.
    result = learn(late, treewidth=2, method="anneal", max_iterations=30_000)
    assert result.score > late.total([[] for _ in range(30)]) + 10


def test_ctrl_c_while_candidates_are_looked_for_keeps_the_start(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = voting(8, 4, 200)
    start = learn(table, treewidth=2, max_iterations=20_000)
    scores = LazyScores(table)

    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(LazyScores, "find_single_parents", interrupted)
    result = learn(scores, treewidth=2, method="anneal", start=start, max_iterations=20_000)
    assert result.status == "interrupted"
    assert result.dag == start.dag
