"""The contract of every search, and what each promises beyond it."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from functools import partial
from typing import Any

import networkx as nx
import numpy as np
import pytest

from conftest import with_time_enough
from oracle import all_dags, random_table
from twbn import (
    METHODS,
    Dag,
    LazyScores,
    LocalScores,
    ScoreTable,
    SearchResult,
    Table,
    TreeDecomposition,
    compute_scores,
    datasets,
    fit,
    polish,
    treewidth,
)
from twbn import learn as learn_by
from twbn.errors import MemoryLimitError, OptionError, VerificationError
from twbn.graphs.branching import maximum_branching
from twbn.search import result_document

#: Where nothing else is said, sampling is what is tested here.
learn = partial(learn_by, method="sample")

TABLE = random_table(np.random.default_rng(77), 9, 200, max_states=3)
SCORES = compute_scores(TABLE)
SMALL = compute_scores(random_table(np.random.default_rng(5), 5, 80), max_parents=4)
SOURCES: dict[str, LocalScores] = {"table": SCORES, "lazy": LazyScores(TABLE)}


def untimed(result: SearchResult) -> str:
    """Return a result as text, without the times."""
    document = result_document(result)
    del document["seconds"]
    for point in document["trace"]:
        del point["seconds"]
    return json.dumps(document)


def best_bounded(scores: ScoreTable, k: int) -> float:
    """Return the best score over every DAG of treewidth at most k."""
    n = scores.n_variables
    local = [{parents: s for s, parents in scores.sets(v)} for v in range(n)]
    ranked = sorted(
        ((sum(local[v].get(p, -math.inf) for v, p in enumerate(dag)), dag) for dag in all_dags(n)),
        reverse=True,
    )
    return next(s for s, dag in ranked if treewidth(Dag(dag).moral_graph()).upper <= k)


# The contract of every method


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("method", METHODS)
def test_every_method_proves_its_treewidth(method: str, source: str) -> None:
    scores = SOURCES[source]
    for k in (1, 2, 4):
        result = METHODS[method](scores, treewidth=k, time_limit=0.2, seed=0)
        result.decomposition.check(result.dag.moral_graph())
        assert result.decomposition.width <= k
        assert result.treewidth <= k
        assert result.score == pytest.approx(scores.total(result.dag))
        assert result.score <= result.bound
        assert result.gap >= 0
        assert result.method == method


@pytest.mark.parametrize("method", METHODS)
def test_every_method_gives_one_answer_for_one_seed_and_any_workers(method: str) -> None:
    for seed in (0, 3):
        answers = {
            untimed(
                METHODS[method](
                    SCORES,
                    treewidth=3,
                    seed=seed,
                    n_jobs=n_jobs,
                    max_iterations={"milp": 3, "milp-paper": 3, "maxsat": 20}.get(method, 700),
                )
            )
            for n_jobs in (1, 2, 3)
        }
        assert len(answers) == 1


@pytest.mark.parametrize("method", METHODS)
def test_every_method_is_no_worse_than_its_start(method: str) -> None:
    first = METHODS["sample"](SCORES, treewidth=3, max_iterations=3000, seed=1)
    for start in (first, first.dag):
        second = METHODS[method](SCORES, treewidth=3, max_iterations=1, seed=2, start=start)
        assert second.score >= first.score


@pytest.mark.parametrize("method", METHODS)
def test_every_method_takes_a_single_variable(method: str) -> None:
    scores = compute_scores(Table.from_codes([[0], [1], [1]]))
    result = METHODS[method](scores, treewidth=1, max_iterations=5)
    assert (result.status, result.dag.parents, result.treewidth) == ("optimal", ((),), 0)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("n", [2, 3])
def test_every_method_takes_as_few_variables_as_the_limit(method: str, n: int) -> None:
    scores = compute_scores(random_table(np.random.default_rng(n), n, 60))
    result = METHODS[method](scores, treewidth=5, max_iterations=200)
    assert any("does not restrict" in note for note in result.notes)
    assert result.treewidth <= n - 1


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"treewidth": 0}, "treewidth must be a whole number, 1 or more, got 0"),
        ({"treewidth": 2.5}, "treewidth must be a whole number, 1 or more, got 2.5"),
        (
            {"treewidth": 2, "time_limit": 0},
            "time_limit must be a positive number of seconds, got 0",
        ),
        ({"treewidth": 2, "time_limit": -1}, "got -1"),
        ({"treewidth": 2, "max_iterations": 0}, "max_iterations must be a whole number, 1 or more"),
        ({"treewidth": 2, "seed": 1.5}, "seed must be a whole number, 0 or more, got 1.5"),
        ({"treewidth": 2, "seed": "x"}, "seed must be a whole number, 0 or more, got 'x'"),
        ({"treewidth": 2, "n_jobs": 0}, "n_jobs must be a positive number"),
        ({"treewidth": 2, "start": Dag.empty(4)}, "start has 4 variables, the scores have 9"),
        (
            {"treewidth": 2, "start": "x"},
            "start must be a Dag or a SearchResult, got str",
        ),
        (
            {"treewidth": 1, "start": Dag.from_arcs(9, [(0, 2), (1, 2)])},
            "start has treewidth 2, the bound is 1|not in the scores",
        ),
    ],
)
def test_every_method_refuses_options_that_make_no_sense(
    method: str, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(OptionError, match=message):
        METHODS[method](SCORES, **options)


@pytest.mark.parametrize("method", ["sample", "sample-exact"])
def test_the_trace_records_every_improvement(method: str) -> None:
    result = METHODS[method](SCORES, treewidth=2, max_iterations=2000, seed=4)
    scores = [point.score for point in result.trace]
    assert len(scores) > 1
    assert scores == sorted(set(scores))
    assert scores[-1] == pytest.approx(result.score)
    iterations = [point.iteration for point in result.trace]
    assert iterations == sorted(iterations)
    assert iterations[-1] <= result.n_iterations == 2000
    assert all(point.bound == result.bound for point in result.trace)


@pytest.mark.parametrize("method", ["sample", "sample-exact"])
def test_ctrl_c_returns_the_best_so_far(method: str) -> None:
    seen: list[tuple[float, int, float]] = []

    def press(seconds: float, iterations: int, best: float) -> None:
        seen.append((seconds, iterations, best))
        raise KeyboardInterrupt

    result = METHODS[method](SCORES, treewidth=3, time_limit=60, on_progress=press)
    assert result.status == "interrupted"
    assert len(seen) == 1
    assert result.score >= seen[0][2]


def test_an_error_in_the_callback_reaches_the_caller() -> None:
    def fail(*_: float) -> None:
        msg = "stop here"
        raise RuntimeError(msg)

    with pytest.raises(RuntimeError, match="stop here"):
        learn(SCORES, treewidth=3, time_limit=60, on_progress=fail)


# Sampling


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_enough_samples_find_the_optimum_of_small_problems(k: int) -> None:
    best = best_bounded(SMALL, k)
    assert learn(SMALL, treewidth=k, max_iterations=40_000).score == pytest.approx(best)
    assert learn(
        SMALL, treewidth=k, method="sample-exact", max_iterations=3_000
    ).score == pytest.approx(best)


def test_an_order_is_never_better_than_the_whole_k_tree() -> None:
    # The first k-tree of a seed is the same in both versions.
    better = 0
    for seed in range(60):
        for k in (1, 2, 3):
            exact = learn(SCORES, treewidth=k, method="sample-exact", max_iterations=1, seed=seed)
            order = learn(SCORES, treewidth=k, method="sample", max_iterations=1, seed=seed)
            assert order.score <= exact.score + 1e-9
            better += exact.score > order.score + 1e-9
    assert better > 60


def test_large_parent_sets_and_bounds_are_sampled() -> None:
    scores = compute_scores(random_table(np.random.default_rng(3), 8, 40), max_parents=7)
    for k in (5, 7):
        result = learn(scores, treewidth=k, max_iterations=500)
        lazy = learn(
            LazyScores(random_table(np.random.default_rng(3), 8, 40), max_parents=7),
            treewidth=k, max_iterations=500,
        )  # fmt: skip
        assert result.score == pytest.approx(lazy.score)
    unpruned = compute_scores(
        random_table(np.random.default_rng(3), 8, 40), max_parents=7, prune=False
    )
    assert learn(unpruned, treewidth=7, max_iterations=500).score == pytest.approx(result.score)


def test_hash_and_dense_look_ups_agree() -> None:
    # A set of four parents makes the whole table be looked up by hash.
    sets = [{parents: s for s, parents in SCORES.sets(v)} for v in range(9)]
    sets[0][(1, 2, 3, 4)] = -1e9
    hashed = ScoreTable.from_sets(SCORES.names, sets)
    for k in (2, 4):
        dense = learn(SCORES, treewidth=k, max_iterations=300, seed=6)
        other = learn(hashed, treewidth=k, max_iterations=300, seed=6)
        assert other.dag == dense.dag


def test_a_python_function_can_be_sampled() -> None:
    def family(_: Table, child: int, parents: tuple[int, ...]) -> float:
        return -abs(child - 3.0) - sum(abs(child - p - 1) for p in parents) + len(parents)

    lazy = LazyScores(TABLE, score=family, max_parents=2)
    one = learn(lazy, treewidth=2, max_iterations=50, n_jobs=1)
    two = learn(lazy, treewidth=2, max_iterations=50, n_jobs=2)
    assert one.dag == two.dag
    assert one.bound == math.inf
    assert result_document(one)["bound"] is None


def test_a_failing_python_score_reaches_the_caller() -> None:
    def family(_: Table, __: int, parents: tuple[int, ...]) -> float:
        if len(parents) == 2:
            msg = "no pairs"
            raise ZeroDivisionError(msg)
        return 0.0

    with pytest.raises(ZeroDivisionError, match="no pairs"):
        learn(LazyScores(TABLE, score=family), treewidth=3, max_iterations=50, n_jobs=2)


def test_too_many_subsets_are_refused() -> None:
    table = Table.from_codes(np.random.default_rng(0).integers(0, 2, (30, 40)))
    with pytest.raises(OptionError, match=r"39 candidates have .* parent sets"):
        learn(LazyScores(table, max_parents=None), treewidth=39)


def test_exact_sampling_refuses_wide_bounds_beforehand() -> None:
    table = Table.from_codes(np.random.default_rng(0).integers(0, 2, (30, 40)))
    with pytest.raises(MemoryLimitError, match="method 'sample' has no such limit"):
        learn(compute_scores(table, max_parents=1), treewidth=14, method="sample-exact")


def test_required_parents_are_found_or_explained() -> None:
    possible = compute_scores(TABLE, required=[("x1", "x2")])
    result = learn(possible, treewidth=2, max_iterations=2000)
    assert 0 in result.dag.parents[1]
    sets: list[dict[tuple[int, ...], float]] = [{(1,): -1.0}, {(0,): -1.0}]
    cyclic = ScoreTable.from_sets(["a", "b"], sets)
    with pytest.raises(OptionError, match="cycle: each of a, b must have a parent"):
        learn(cyclic, treewidth=1, max_iterations=10)


def test_reaching_the_bound_is_optimal() -> None:
    sets: list[dict[tuple[int, ...], float]] = [{(): -1.0}, {(): -2.0, (0,): -1.0}, {(): -1.0}]
    result = learn(ScoreTable.from_sets(["a", "b", "c"], sets), treewidth=1, time_limit=20)
    assert (result.status, result.gap, result.score) == ("optimal", 0.0, -3.0)


def test_a_table_cut_short_has_no_false_bound() -> None:
    # Each column is the exclusive or of the two before it: only pairs of parents matter.
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 2, (3000, 70))
    for v in range(2, 70):
        codes[:, v] = codes[:, v - 1] ^ codes[:, v - 2] ^ (rng.random(3000) < 0.1)
    table = Table.from_codes(codes)
    cut = compute_scores(table, budget=0)
    result = learn(cut, treewidth=2, max_iterations=10)
    chain = [(), (), *((v - 2, v - 1) for v in range(2, 70))]
    assert result.bound >= LazyScores(table).total(chain) > cut.best().sum()
    assert any("not all parent sets were scored" in note for note in result.notes)


def test_no_parents_at_all_are_sampled_in_no_time() -> None:
    table = Table.from_codes(np.random.default_rng(0).integers(0, 2, (30, 40)))
    result = learn(LazyScores(table, max_parents=0), treewidth=35, max_iterations=10)
    assert result.dag == Dag.empty(40)


def test_one_clique_of_all_is_searched_once_and_is_optimal() -> None:
    result = learn(SMALL, treewidth=4, method="sample-exact", time_limit=30)
    assert (result.status, result.n_iterations, result.gap) == ("optimal", 1, 0.0)
    assert result.score == pytest.approx(best_bounded(SMALL, 4))


def test_equal_up_to_rounding_is_optimal() -> None:
    rng = np.random.default_rng(2)
    sets: list[dict[tuple[int, ...], float]] = [{(): -rng.random()} for _ in range(40)]
    for seed in range(6):
        result = learn(
            ScoreTable.from_sets([f"v{v}" for v in range(40)], sets),
            treewidth=3, time_limit=30, seed=seed,
        )  # fmt: skip
        assert result.status == "optimal"


def test_scores_that_are_no_numbers_make_no_result() -> None:
    for value in (math.nan, math.inf):

        def no_number(_: Table, __: int, parents: tuple[int, ...], value: float = value) -> float:
            return value if parents else -1.0

        scores = LazyScores(TABLE, score=no_number)
        with pytest.raises(OptionError, match=f"the score function gave {value} for"):
            learn(scores, treewidth=2, max_iterations=20)


def test_a_wide_proof_of_a_narrow_start_is_no_obstacle() -> None:
    wide = learn(SCORES, treewidth=5, max_iterations=1, seed=3, start=Dag.empty(9))
    one_bag = TreeDecomposition((frozenset(range(9)),))
    padded = replace(wide, dag=Dag.empty(9), treewidth_limit=8, decomposition=one_bag)
    assert learn(SCORES, treewidth=1, max_iterations=5, start=padded).treewidth <= 1


def test_progress_begins_at_the_start() -> None:
    good = learn(SCORES, treewidth=3, max_iterations=5000, seed=1)
    seen: list[float] = []
    learn(
        SCORES, treewidth=3, time_limit=0.4, start=good,
        on_progress=lambda _, __, best: seen.append(best),
    )  # fmt: skip
    assert min(seen) >= good.score - 1e-9


def test_other_variables_are_refused() -> None:
    result = learn(SCORES, treewidth=2, max_iterations=5)
    other = compute_scores(TABLE.select(TABLE.names[::-1]))
    with pytest.raises(OptionError, match="other variables"):
        polish(result, other)
    with pytest.raises(OptionError, match="other variables"):
        learn(other, treewidth=2, max_iterations=5, start=result)


# Polish


@pytest.mark.parametrize("k", [1, 2, 3])
def test_polish_never_loses(k: int) -> None:
    gained = 0
    for seed in range(10):
        for method in ("sample", "tree"):
            result = learn(SCORES, treewidth=k, method=method, max_iterations=20, seed=seed)
            better = polish(result, SCORES)
            assert better.score >= result.score
            assert better.treewidth <= k
            assert polish(better, SCORES).score == pytest.approx(better.score)
            gained += better.score > result.score
    assert gained > 0 or k == 1


# Treewidth one


def test_the_best_tree_agrees_with_brute_force() -> None:
    rng = np.random.default_rng(3)
    for n in (2, 3, 4, 5):
        for score in ("bdeu", "k2", "loglik"):
            scores = compute_scores(random_table(rng, n, 40), score=score, max_parents=1)
            result = learn(scores, treewidth=1, method="tree")
            assert result.status == "optimal"
            assert result.score == pytest.approx(best_bounded(scores, 1))


def test_random_branchings_agree_with_networkx() -> None:
    rng = np.random.default_rng(4)
    for trial in range(6):
        n = 50
        weights = rng.normal(size=(n, n))
        weights[rng.random((n, n)) < 0.5] = -np.inf
        np.fill_diagonal(weights, -np.inf)
        if trial % 2:
            weights = np.round(weights, 1)  # ties
        parents = maximum_branching(weights)
        total = sum(weights[p, v] for v, p in enumerate(parents) if p >= 0)
        Dag(tuple(() if p < 0 else (int(p),) for p in parents))
        graph = nx.DiGraph()
        graph.add_nodes_from(range(n))
        graph.add_weighted_edges_from(
            (int(u), int(v), weights[u, v]) for u, v in np.argwhere(np.isfinite(weights))
        )
        theirs = nx.maximum_branching(graph).size(weight="weight")
        assert total == pytest.approx(theirs)


def test_nested_cycles_are_contracted_and_opened_again() -> None:
    for n in (5, 20, 120):
        weights = np.full((n, n), -np.inf)
        for v in range(1, n):
            weights[v - 1, v] = 1e6 - v
            weights[v, 0] = 1e6 - 2 * v
        weights[1, 0] = 1e6
        parents = maximum_branching(weights)
        graph = nx.DiGraph()
        graph.add_weighted_edges_from(
            (int(u), int(v), weights[u, v]) for u, v in np.argwhere(np.isfinite(weights))
        )
        total = sum(weights[p, v] for v, p in enumerate(parents) if p >= 0)
        assert total == pytest.approx(nx.maximum_branching(graph).size(weight="weight"))


def test_a_tree_gives_parents_to_those_that_must_have_one() -> None:
    scores = compute_scores(TABLE, required=[("x1", "x2"), ("x2", "x3")], max_parents=1)
    result = learn(scores, treewidth=1, method="tree")
    assert result.dag.parents[1:3] == ((0,), (1,))
    sets: list[dict[tuple[int, ...], float]] = [{(1,): -1.0}, {(0,): -1.0}]
    with pytest.raises(OptionError, match="cycle: each of a, b must have a parent"):
        learn(ScoreTable.from_sets(["a", "b"], sets), treewidth=1, method="tree")


# Results verify themselves


def test_a_result_that_is_not_what_it_claims_cannot_be_made() -> None:
    good = learn(SCORES, treewidth=2, max_iterations=200)
    single = TreeDecomposition((frozenset(range(9)),))
    complete = Dag(tuple(tuple(range(v)) for v in range(9)))
    TreeDecomposition((frozenset({0}), frozenset({1, 2})), ((0, 1),))
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"decomposition": single}, "width 8, the limit is 2"),
        ({"dag": Dag.empty(4)}, "the structure has 4 variables, the scores have 9"),
        ({"dag": complete}, "are not in the scores"),
        ({"bound": good.score - 1}, "exceeds the bound"),
        ({"status": "done"}, "the status must be one of"),
        (
            {
                "decomposition": TreeDecomposition(
                    (frozenset({0}), frozenset(range(1, 3))), ((0, 1),)
                )
            },
            "does not fit the structure: vertex 'x4' is in no bag",
        ),
    ]
    for changes, message in wrong:
        claims: dict[str, Any] = {"bound": good.bound, "status": good.status, **changes}
        dag, proof = claims.pop("dag", good.dag), claims.pop("decomposition", good.decomposition)
        with pytest.raises(VerificationError, match=message):
            SearchResult.from_search(
                SCORES, dag, proof, treewidth_limit=2, method="sample", **claims
            )


def test_learn_takes_data_and_keeps_the_time() -> None:
    result = learn(datasets.load("wdbc"), treewidth=2, time_limit=0.5)
    assert result.score_name == "bdeu"
    assert result.status == "time_limit"
    assert set(result.parents) == set(datasets.load("wdbc").names)


def test_learn_refuses_an_unknown_method() -> None:
    with pytest.raises(OptionError, match=r"unknown method 'no-such'; expected one of .*'anneal'"):
        learn(SCORES, method="no-such")


def test_learn_takes_missing_cells_and_says_so() -> None:
    rng = np.random.default_rng(5)
    a = rng.integers(0, 2, 300)
    cells = np.column_stack([a, a ^ (rng.random(300) < 0.1), rng.integers(0, 2, 300)]).astype(float)
    cells[rng.random(cells.shape) < 0.2] = np.nan
    result = learn_by(cells, treewidth=2, max_iterations=2000)
    assert "missing cells: structural EM" in result.notes[0]
    assert result.status != "optimal"
    assert result.bound == math.inf
    assert {frozenset(arc) for arc in result.dag.arcs} == {frozenset((0, 1))}
    again = learn_by(cells, treewidth=2, max_iterations=2000)
    assert again.dag == result.dag
    network = fit(result, cells)
    assert network.log_likelihood(np.array([[1.0, 1.0, 0.0]]))[0] < 0


# Choosing a method


def test_auto_says_what_it_chose() -> None:
    def choice(scores: LocalScores, **options: Any) -> SearchResult:
        result = learn_by(scores, **{"treewidth": 2, "time_limit": 1.0, **options})
        assert result.method == "auto"
        return result

    assert "a proof, as 9 variables are few" in choice(SCORES).notes[-1]
    assert choice(SCORES).status == "optimal"
    assert "optimal tree" in choice(SCORES, treewidth=1).notes[-1]
    assert "the bound of the likelihood only" in choice(LazyScores(TABLE)).notes[-1]
    budget = choice(SCORES, time_limit=None, max_iterations=100)
    assert "as the budget is in iterations" in budget.notes[-1]
    many = compute_scores(random_table(np.random.default_rng(3), 30, 100), max_parents=2)
    found = with_time_enough(
        lambda seconds: choice(many, time_limit=seconds),
        lambda result: result.bound < many.trivial_bound(),
    )
    assert "annealing beside a bound, as 30 variables are too many" in found.notes[-1]
    assert found.bound < many.trivial_bound()


# What a network must and must not have


@pytest.mark.parametrize("method", [m for m in METHODS if m != "milp-paper"])
def test_every_method_keeps_to_the_rules(method: str) -> None:
    table = random_table(np.random.default_rng(12), 6, 150, max_states=2)
    names = table.names
    k = 1 if method == "tree" else 3
    result = learn_by(
        table, treewidth=k, method=method, max_parents=2, time_limit=2.0, seed=1,
        required=[(names[0], names[1])], forbidden=[(names[2], names[3])], roots=[names[0]],
        leaves=[names[5]], tiers=[[names[4]], [names[3]]],
    )  # fmt: skip
    arcs = {(names[a], names[b]) for a, b in result.dag.arcs}
    assert (names[0], names[1]) in arcs
    assert (names[2], names[3]) not in arcs
    assert (names[3], names[4]) not in arcs
    assert result.parents[names[0]] == []
    assert not any(parent == names[5] for parent, _ in arcs)


def test_rules_that_contradict_each_other_are_explained() -> None:
    conflict = "these rules contradict each other: 'x2' is a root; 'x1' -> 'x2' is required"
    with pytest.raises(OptionError, match=conflict):
        learn(TABLE, required=[(TABLE.names[0], TABLE.names[1])], roots=[TABLE.names[1]])
    with pytest.raises(OptionError, match="leaves: "):
        learn(TABLE, leaves=["nobody"])
    with pytest.raises(OptionError, match="roots has no effect on existing scores"):
        learn(SCORES, treewidth=2, roots=[TABLE.names[0]])
