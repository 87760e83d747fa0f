"""Limits are looked at in time: by counts of what is done, never by the clock."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import twbn
from twbn import _core
from twbn.errors import OptionError
from twbn.graphs.branching import maximum_branching


def wide(n: int, n_rows: int = 40) -> twbn.Table:
    rng = np.random.default_rng(n)
    codes = rng.integers(0, 2, (n_rows, n))
    for v in range(1, n):
        copied = rng.random(n_rows) < 0.9
        codes[copied, v] = codes[copied, v - 1]
    return twbn.Table.from_codes(codes)


def test_children_that_are_reached_too_late_have_their_empty_set_alone() -> None:
    scores = twbn.compute_scores(wide(300), budget=1000, time_limit=1e-9)
    assert scores.info.n_scored == 300
    assert scores.info.status == "time_limit"
    assert twbn.learn(scores, treewidth=2, max_iterations=10).status != "optimal"


def test_required_parents_are_kept_when_time_is_over() -> None:
    scores = twbn.compute_scores(
        wide(50), budget=10, time_limit=1e-9, required=[("x1", "x2"), ("x3", "x5"), ("x4", "x5")]
    )
    assert [parents for _, parents in scores.sets(1)] == [(0,)]
    assert [parents for _, parents in scores.sets(4)] == [(2, 3)]


@pytest.mark.parametrize("budget", [0, 3, 50, 2000])
@pytest.mark.parametrize("prune", [False, True])
def test_a_budget_is_spent_on_the_best_single_parents_first(budget: int, prune: bool) -> None:
    table = wide(9, 60)
    rules: dict[str, Any] = {"forbidden": [("x1", "x2")], "required": [("x3", "x4")]}
    found = twbn.compute_scores(table, budget=budget, prune=prune, max_parents=4, **rules)
    whole = twbn.compute_scores(table, prune=False, max_parents=4, **rules)
    everything = twbn.compute_scores(table, prune=prune, max_parents=4, **rules)
    for child in range(9):
        scores = {parents: score for score, parents in whole.sets(child)}
        kept = {parents for _, parents in found.sets(child)}
        for score, parents in found.sets(child):
            assert score == pytest.approx(scores[parents], rel=1e-12)
        if budget == 2000:
            assert kept == {parents for _, parents in everything.sets(child)}
        if prune or child == 3:  # x4 has a required parent: no set is without it
            continue
        singles = sorted((p for p in scores if len(p) == 1), key=lambda p: -scores[p])
        assert {(), *singles} <= kept
        assert sum(len(p) > 1 for p in kept) <= budget
        if budget:
            assert tuple(sorted(singles[0] + singles[1])) in kept


class Steps:
    """Counts how often it is asked whether the time is over, and never says so."""

    def __init__(self) -> None:
        self.n = 0

    def __call__(self) -> bool:
        self.n += 1
        return False


def test_a_branching_takes_quadratic_time() -> None:
    # Every step costs O(n): there are at most two for each vertex and each contraction.
    for n in (50, 200, 400):
        rng = np.random.default_rng(n)
        weights = rng.normal(size=(n, n)) + 1.0
        np.fill_diagonal(weights, -np.inf)
        steps = Steps()
        maximum_branching(weights, over=steps)
        assert n <= steps.n <= 3 * n


def test_a_branching_that_has_no_time_is_an_error_and_a_tree_is_not() -> None:
    weights = np.ones((5, 5))
    with pytest.raises(TimeoutError):
        maximum_branching(weights, over=lambda: True)
    scores = twbn.compute_scores(wide(60), max_parents=1)
    hasty = twbn.METHODS["tree"](scores, treewidth=1, time_limit=1e-9)
    best = twbn.METHODS["tree"](scores, treewidth=1)
    assert hasty.status == "time_limit"
    assert best.status == "optimal"
    assert scores.total(twbn.Dag.empty(60)) < hasty.score <= best.score <= hasty.bound


def test_sets_larger_than_the_treewidth_are_not_scored() -> None:
    table = wide(12)
    for treewidth, n_sets in ((1, 12 * 12), (2, 12 * (12 + 55))):
        seen: list[int] = []

        def counted(
            rows: twbn.Table, child: int, parents: tuple[int, ...], seen: list[int] = seen
        ) -> float:
            seen.append(len(parents))
            return -float(rows.n_rows + child)

        twbn.learn(table, treewidth=treewidth, score=counted, max_iterations=10)
        assert len(seen) == n_sets


class SlowClock:
    """A clock on which every look takes a second."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 1.0
        return self.now


def test_marginal_map_looks_at_the_clock_at_every_step(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    n = 30
    names = [f"v{v}" for v in range(n)]
    parents = {names[v]: [names[p] for p in range(max(v - 3, 0), v)] for v in range(n)}
    tables = {name: rng.dirichlet([1.0, 1.0], size=(2,) * len(parents[name])) for name in names}
    engine = twbn.Inference(
        twbn.Network.from_tables({name: ["a", "b"] for name in names}, parents, tables)
    )
    questions: list[str] = []
    for name in ("query", "log_codes"):
        plain = getattr(twbn.Inference, name)

        def asked(
            self: Any, *args: Any, plain: Any = plain, name: str = name, **options: Any
        ) -> Any:
            questions.append(name)
            return plain(self, *args, **options)

        monkeypatch.setattr(twbn.Inference, name, asked)
    monkeypatch.setattr("twbn.deadline.time.monotonic", SlowClock())
    found = engine.marginal_map(names[::2], max_entries=1, time_limit=6.0)
    assert len(found.states) == 15
    assert len(questions) <= 6
    assert found.log_probability <= found.bound


def test_cuts_are_looked_for_until_the_time_is_over() -> None:
    n = 40
    child = np.arange(n, dtype=np.int32)
    network: Any = (
        n, child, np.ones(n), np.arange(n + 1, dtype=np.int64), ((child + 1) % n).astype(np.int32),
    )  # fmt: skip
    core: Any = _core
    assert core.find_clusters(*network, 1500, 20, 1e-3, 40, 0, None)
    assert core.find_clusters(*network, 1500, 20, 1e-3, 40, 0, 1e-9) == []
    edges = np.ones((n, n))
    assert _core.find_dense_sets(n, edges, 3, 40, 1e-3, 40, 0, None)
    assert _core.find_dense_sets(n, edges, 3, 40, 1e-3, 40, 0, 1e-9) == []


def test_the_command_for_bounds_hands_its_limit_to_scoring(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from twbn.cli import run

    path = tmp_path / "x.csv"
    rows = ["a,b,c", *["0,1,0", "1,0,0", "1,1,1", "0,0,1"] * 4]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    limits: list[Any] = []
    plain = twbn.compute_scores

    def limited(*args: Any, **options: Any) -> Any:
        limits.append(options.get("time_limit"))
        return plain(*args, **options)

    monkeypatch.setattr(twbn, "compute_scores", limited)
    assert run(["bound", str(path), "-k", "2", "--time-limit", "50"]) == 0
    assert len(limits) == 1
    assert 0 < limits[0] <= 50


@pytest.mark.parametrize("limit", [1e308, 1e18])
def test_a_limit_beyond_all_bounds_is_none(limit: float) -> None:
    rows = {"a": [0, 1, 0, 1], "b": [0, 1, 1, 0], "c": [1, 1, 0, 0]}
    assert twbn.learn(rows, treewidth=1, time_limit=limit).status == "optimal"
    for method in ("anneal", "milp", "exact"):
        twbn.learn(rows, treewidth=1, method=method, time_limit=limit, max_iterations=50)
    scores = twbn.compute_scores(rows, time_limit=limit)
    assert twbn.upper_bound(scores, treewidth=1, time_limit=limit).value < 0
    assert twbn.treewidth(twbn.Graph.complete(4), time_limit=limit).upper == 3


@pytest.mark.parametrize("limit", [0, -1.0, float("nan"), float("inf"), "5", True])
def test_a_limit_that_is_none_is_refused(limit: Any) -> None:
    rows = {"a": [0, 1, 0, 1], "b": [0, 1, 1, 0], "c": [1, 1, 0, 0]}
    with pytest.raises(OptionError, match="time_limit must be a positive number of seconds, got"):
        twbn.learn(rows, time_limit=limit)


def test_required_arcs_are_kept_by_a_tree_in_haste() -> None:
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, (60, 40))
    codes[:, 1] = codes[:, 0]  # the arc back is as good, and must not be taken first
    codes[:, 3] = codes[:, 2]
    names = [f"v{v}" for v in range(40)]
    table = twbn.Table.from_codes(codes, names=names)
    required = [("v0", "v1"), ("v2", "v3"), ("v1", "v2")]
    scores = twbn.compute_scores(table, max_parents=1, required=required)
    hasty = twbn.METHODS["tree"](scores, treewidth=1, time_limit=1e-9)
    assert hasty.status == "time_limit"
    assert all(parent in hasty.parents[child] for parent, child in required)
