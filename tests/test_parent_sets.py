"""Which parent sets a score table holds: pruning, rules, limits, budgets."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from oracle import best_dag_score, local_score, random_table
from twbn import LazyScores, ScoreTable, Table, as_table, compute_scores
from twbn.errors import DataError, MemoryLimitError, OptionError
from twbn.learning.scoring import best_of
from twbn.scores import SCORES, estimate


def as_dict(scores: ScoreTable, child: int) -> dict[tuple[int, ...], float]:
    return {parents: score for score, parents in scores.sets(child)}


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("n_variables", [4, 5])
@pytest.mark.parametrize("weighted", [False, True])
def test_pruning_loses_no_optimum(score: str, n_variables: int, weighted: bool) -> None:
    rng = np.random.default_rng(n_variables)
    for n_rows in (3, 10, 30, 100):
        table = random_table(rng, n_variables, n_rows, weighted=weighted)
        everything = compute_scores(table, score=score, max_parents=None, prune=False)
        pruned = compute_scores(table, score=score, max_parents=None)
        assert pruned.n_sets <= everything.n_sets
        assert best_dag_score(pruned) == pytest.approx(best_dag_score(everything), abs=1e-9)


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("weighted", [False, True])
def test_exactly_the_undominated_sets_are_kept(score: str, weighted: bool) -> None:
    rng = np.random.default_rng(11)
    for n_rows in (2, 8, 25, 200):
        table = random_table(rng, 6, n_rows, max_states=3, weighted=weighted)
        everything = compute_scores(table, score=score, max_parents=5, prune=False)
        pruned = compute_scores(table, score=score, max_parents=5)
        for child in range(6):
            full = as_dict(everything, child)
            assert len(full) == 2**5
            kept = as_dict(pruned, child)
            for parents, value in full.items():
                subsets = itertools.chain.from_iterable(
                    itertools.combinations(parents, size) for size in range(len(parents))
                )
                best = max((full[s] for s in subsets), default=-np.inf)
                if abs(value - best) > 1e-9:  # ties within rounding may fall either way
                    assert (parents in kept) == (value > best)


@pytest.mark.parametrize("score", ["bdeu", "bic"])
def test_bounds_skip_branches_unscored(score: str) -> None:
    table = random_table(np.random.default_rng(1), 12, 40, max_states=3)
    pruned = compute_scores(table, score=score, max_parents=None)
    assert pruned.info.n_skipped > 0
    assert pruned.info.n_scored + pruned.info.n_skipped == 12 * 2**11


def test_sets_are_best_first_and_found_by_hash() -> None:
    table = random_table(np.random.default_rng(6), 8, 60)
    scores = compute_scores(table)
    for child in range(8):
        listed = list(scores.sets(child))
        assert [s for s, _ in listed] == sorted((s for s, _ in listed), reverse=True)
        for value, parents in listed:
            assert scores.local(child, parents) == value


def test_sizes_may_differ_by_variable() -> None:
    table = random_table(np.random.default_rng(6), 5, 60)
    scores = compute_scores(table, max_parents={"x1": 0, "x2": 1, "x3": 4}, prune=False)
    sizes = [max(len(p) for _, p in scores.sets(v)) for v in range(5)]
    assert sizes == [0, 1, 4, 3, 3]
    counts = np.diff(scores.variable_offsets).tolist()
    assert counts == [1, 5, 16, 15, 15]


@pytest.mark.parametrize("prune", [False, True])
@pytest.mark.parametrize("budget", [None, 1000])
@pytest.mark.parametrize("function", [False, True])
def test_rules_hold_in_every_set(prune: bool, budget: int | None, function: bool) -> None:
    if function and budget is not None:
        budget = None
    table = random_table(np.random.default_rng(7), 6, 80)

    def bdeu(data: Table, child: int, parents: tuple[int, ...]) -> float:
        return local_score(data, child, parents, "bdeu", 1.0)

    scores = compute_scores(
        table,
        score=bdeu if function else "bdeu",
        max_parents=5,
        prune=prune,
        budget=budget,
        required=[("x1", "x3"), ("x2", "x3")],
        forbidden=[("x4", "x5")],
        tiers=[["x1", "x2"], ["x6"]],
    )
    for value, parents in scores.sets(2):
        assert {0, 1} <= set(parents)
        assert value == pytest.approx(local_score(table, 2, parents, "bdeu", 1.0))
    assert all(3 not in parents for _, parents in scores.sets(4))
    for child in (0, 1):
        assert all(5 not in parents for _, parents in scores.sets(child))
    if not prune:
        assert len(as_dict(scores, 2)) == 2**3
        assert len(as_dict(scores, 4)) == 2**4


def test_pruning_under_rules_compares_only_with_allowed_subsets() -> None:
    # C = A: without the rule {B, A} is dominated by {A}; with B required it must stay.
    table = as_table({"A": [0, 0, 1, 1] * 9, "B": [0, 1, 0, 1] * 9, "C": [0, 0, 1, 1] * 9})
    scores = compute_scores(table, required=[("B", "C")])
    assert set(as_dict(scores, 2)) == {(1,), (0, 1)}


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ({"required": [("x1", "nope")]}, "unknown variable 'nope'"),
        ({"required": [("x1", "x1")]}, "from a variable to itself"),
        ({"required": ["x1"]}, "required takes pairs such as"),
        ({"required": [("x1", "x2")], "forbidden": [("x1", "x2")]}, "is required, but a forbidden"),
        (
            {"required": [("x2", "x1")], "tiers": [["x1"], ["x2"]]},
            "the tiers, a root or a leaf rule it out",
        ),
        ({"required": [("x1", "x2"), ("x2", "x3"), ("x3", "x1")]}, "cycle among x1, x2, x3"),
        ({"required": [("x1", "x2"), ("x3", "x2")], "max_parents": 1}, "2 required parents"),
        ({"tiers": [["x1"], ["x1"]]}, "'x1' is in tier 1 and in tier 2"),
        ({"tiers": [["y"]]}, "tier 1: unknown variable 'y'"),
        ({"max_parents": {"y": 1}}, "max_parents: unknown variable 'y'"),
    ],
)
def test_rules_that_contradict_are_explained(rules: dict[str, Any], message: str) -> None:
    table = random_table(np.random.default_rng(7), 4, 20)
    with pytest.raises(OptionError, match=message):
        compute_scores(table, **rules)


def test_a_single_variable_has_the_empty_set() -> None:
    scores = compute_scores(Table.from_codes([[0], [1], [1]]))
    assert [parents for _, parents in scores.sets(0)] == [()]


def test_too_much_memory_is_refused_with_what_would_fit() -> None:
    table = Table.from_codes(np.random.default_rng(0).integers(0, 2, (50, 120)))
    with pytest.raises(MemoryLimitError, match=r"memory limit of 1\.00 GiB; max_parents=4 would"):
        compute_scores(table, max_parents=8, memory_limit=1)


def test_the_estimate_counts_every_set() -> None:
    assert estimate(6, 5).n_sets == 6 * 2**5
    table = random_table(np.random.default_rng(7), 6, 20)
    assert compute_scores(table, max_parents=2, prune=False).n_sets == estimate(6, 2).n_sets


def test_a_result_beyond_the_memory_limit_is_cut_to_complete_sizes() -> None:
    rng = np.random.default_rng(0)
    table = Table.from_codes(rng.integers(0, 2, (400, 60)))
    scores = compute_scores(table, score="loglik", max_parents=3, memory_limit=0.04)
    assert scores.info.status == "memory_limit"
    assert scores.info.complete_size == scores.max_parents < 3


def test_a_time_limit_keeps_complete_sizes() -> None:
    rng = np.random.default_rng(0)
    table = Table.from_codes(rng.integers(0, 2, (2000, 90)))
    scores = compute_scores(table, max_parents=5, time_limit=0.3)
    size = scores.info.complete_size
    assert scores.info.status == "time_limit"
    assert size is not None
    assert size < 5
    assert scores.equals(compute_scores(table, max_parents=size))


def test_a_function_keeps_its_time_limit() -> None:
    table = random_table(np.random.default_rng(7), 8, 200)

    def slow(data: Table, child: int, parents: tuple[int, ...]) -> float:
        return local_score(data, child, parents, "bic", 1.0)

    scores = compute_scores(table, score=slow, max_parents=7, time_limit=0.05)
    assert scores.info.status == "time_limit"
    assert all(() in as_dict(scores, v) for v in range(8))


def test_progress_ends_at_the_total() -> None:
    seen: list[tuple[int, int]] = []
    table = random_table(np.random.default_rng(7), 6, 50)
    compute_scores(table, on_progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (estimate(6, 3).n_sets,) * 2


def test_an_error_in_the_progress_callback_reaches_the_caller() -> None:
    def fail(_done: int, _total: int) -> None:
        msg = "stop here"
        raise RuntimeError(msg)

    table = Table.from_codes(np.random.default_rng(0).integers(0, 2, (2000, 80)))
    with pytest.raises(RuntimeError, match="stop here"):
        compute_scores(table, max_parents=4, on_progress=fail)


def test_a_budget_explores_the_promising_sets() -> None:
    table = random_table(np.random.default_rng(12), 20, 500, max_states=3)
    everything = compute_scores(table)
    explored = compute_scores(table, budget=200)
    assert explored.info.status == "budget"
    assert explored.info.n_scored <= 20 * (200 + 20)
    # Whatever is there has the right score, and the best sets are nearly always there.
    for child in range(20):
        for value, parents in explored.sets(child):
            assert value == pytest.approx(local_score(table, child, parents, "bdeu", 1.0))
    assert explored.best().sum() >= everything.best().sum() * 1.002
    assert compute_scores(table, budget=200, n_jobs=3).equals(explored)


def test_an_unlimited_budget_finds_every_undominated_set() -> None:
    table = random_table(np.random.default_rng(13), 7, 60)
    for score in ("k2", "loglik", "bic", "bdeu"):
        everything = compute_scores(table, score=score)
        explored = compute_scores(table, score=score, budget=10**6)
        assert np.allclose(explored.best(), everything.best())


def test_a_score_table_refuses_a_variable_without_sets() -> None:
    with pytest.raises(DataError, match="variable 'b' has no parent set"):
        ScoreTable.from_sets(["a", "b"], [{(): -1.0}, {}])


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        (([0, 1, 10**7], [-1.0, -2.0], [0, 0, 0], []), "rise from 0 to 2"),
        (([0, 1, 2], [-1.0, -2.0], [0, 10**9, 0], []), "rise from 0 to 0"),
        (([0, 1, 2], [-1.0, -2.0], [0, 0, 1], [7]), "between 0 and 1, got 7"),
        (([0, 1, 2], [-1.0, -2.0], [0, 0, 1], [1]), "others than the variable itself"),
        (([0, 2, 3], [-2.0, -1.0, -2.0], [0, 0, 1, 1], [1]), "ordered best first"),
        (([0, 1, 2], [-1.0, np.nan], [0, 0, 0], []), "local scores must be finite"),
    ],
)
def test_a_score_table_refuses_arrays_that_break_its_promise(
    arrays: tuple[Any, ...], message: str
) -> None:
    with pytest.raises(DataError, match=message):
        ScoreTable(("a", "b"), *map(np.array, arrays))  # type: ignore[arg-type]


def test_a_set_that_occurs_twice_is_refused_when_looked_up() -> None:
    scores = ScoreTable(
        ("a", "b"),
        np.array([0, 2, 3]),
        np.array([-1.0, -2.0, -2.0]),
        np.array([0, 1, 2, 2]),
        np.array([1, 1], dtype=np.int32),
    )
    with pytest.raises(DataError, match="a parent set of 'a' occurs twice"):
        scores.local(0, [1])


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize(
    ("child", "parents", "message"),
    [
        (-1, [0], "between 0 and 3, got -1"),
        (9, [0], "between 0 and 3, got 9"),
        (0, [-1], "between 0 and 3, got -1"),
        (0, [1, 1], "must be distinct"),
        (0, [0], "others than it"),
    ],
)
def test_a_family_that_is_none_is_refused(
    lazy: bool, child: int, parents: list[int], message: str
) -> None:
    table = random_table(np.random.default_rng(6), 4, 30)
    scores = LazyScores(table) if lazy else compute_scores(table)
    with pytest.raises(DataError, match=message):
        scores.local(child, parents)
    with pytest.raises(DataError, match="the network has 2 variables, the scores have 4"):
        scores.total([[], [0]])


def test_unpruned_results_fit_into_what_was_estimated() -> None:
    table = random_table(np.random.default_rng(6), 12, 30)
    needed = estimate(12, 3, prune=False)
    scores = compute_scores(table, prune=False, memory_limit=1.01 * needed.n_bytes / 2**30)
    assert scores.info.status == "complete"
    assert scores.n_sets == needed.n_sets


def test_a_budget_too_large_is_refused_with_what_would_fit() -> None:
    table = Table.from_codes(np.random.default_rng(0).integers(0, 2, (50, 120)))
    with pytest.raises(MemoryLimitError, match=r"may need .* GiB; budget=\d+ would fit"):
        compute_scores(table, budget=10**9, memory_limit=0.5)
    with pytest.raises(MemoryLimitError, match="no budget would fit"):
        compute_scores(table, budget=10, memory_limit=1e-6)


def test_a_budget_that_runs_out_of_time_says_so() -> None:
    table = Table.from_codes(np.random.default_rng(0).integers(0, 2, (2000, 150)))
    scores = compute_scores(table, budget=200_000, time_limit=0.2)
    assert scores.info.status == "time_limit"
    assert scores.n_variables == 150


def test_more_workers_than_work_are_no_harm() -> None:
    table = random_table(np.random.default_rng(6), 4, 30)
    assert compute_scores(table, n_jobs=5000).equals(compute_scores(table))


def test_a_score_table_survives_pickling() -> None:
    import pickle

    scores = compute_scores(random_table(np.random.default_rng(6), 5, 60))
    scores.local(0, [1])
    copy = pickle.loads(pickle.dumps(scores))
    assert not copy.scores.flags.writeable
    assert copy.equals(scores)
    assert copy.local(0, ()) == scores.local(0, ())


def test_too_many_sets_for_the_time_are_cut_to_the_best_and_the_smallest() -> None:
    rng = np.random.default_rng(5)
    scores = compute_scores(
        Table.from_codes(rng.integers(0, 2, (40, 6))), max_parents=3, score="loglik",
        required=[("x2", "x1")],
    )  # fmt: skip
    few = best_of(scores, 4)
    for v in range(6):
        mine, all_sets = few.sets(v), list(scores.sets(v))
        smallest = min(len(members) for _, members in all_sets)
        wanted = [
            (score, members)
            for rank, (score, members) in enumerate(all_sets)
            if rank < 4 or len(members) <= smallest + 1
        ]
        assert list(mine) == wanted
    assert few.info.status == "budget"
    assert few.local(0, [1]) == scores.local(0, [1])
