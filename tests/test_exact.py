"""Exact methods against brute force and the known optima."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from functools import cache, partial
from pathlib import Path

import numpy as np
import pytest

from conftest import shared_path
from oracle import all_dags, random_graphs, random_table
from signals import interrupted_command
from twbn import (
    Dag,
    Graph,
    LazyScores,
    ScoreTable,
    Table,
    compute_scores,
    learn,
    read_table,
    treewidth,
)
from twbn.errors import MemoryLimitError, MissingDependencyError, OptionError
from twbn.graphs import elimination_width
from twbn.graphs.treewidth.program import treewidth_program
from twbn.search import best_unbounded
from twbn.search.exact.bags import dp
from twbn.search.exact.maxsat import maxsat
from twbn.search.exact.milp import milp, milp_paper
from twbn.search.exact.programs import combined_program
from twbn.solvers import SOLVERS, Job, solve

needs_proc = pytest.mark.skipif(
    not Path("/proc/self/stat").exists(), reason="processes are looked up in /proc"
)


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


@pytest.mark.parametrize(
    "seed", [0, 1, 4, 5, *(pytest.param(s, marks=pytest.mark.slow) for s in (2, 3, 6, 7))]
)
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
        for method in (milp_paper, milp):
            result = method(scores, treewidth=k)
            assert (result.status, result.gap) == ("optimal", 0.0)
            assert result.score == pytest.approx(expected[k - 1], abs=1e-6)
    assert best_unbounded(scores)[1] == pytest.approx(expected[-1])


@pytest.mark.slow
@pytest.mark.parametrize("n", [7, 8])
def test_pruning_changes_nothing_but_the_time(n: int) -> None:
    for seed in range(3):
        scores = compute_scores(random_table(np.random.default_rng(seed + 50), n, 100))
        for k in (1, 2, 3):
            pruned = dp(scores, treewidth=k)
            full = dp(scores, treewidth=k, prune=False)
            assert pruned.score == pytest.approx(full.score, abs=1e-9)
            assert pruned.n_iterations <= full.n_iterations
            sampled = learn(scores, treewidth=k, method="sample", max_iterations=3000)
            assert sampled.score <= pruned.score + 1e-9


@pytest.mark.parametrize("n", [7, 8])
def test_the_program_with_cuts_agrees_with_dynamic_programming(n: int) -> None:
    for seed in range(2):
        scores = compute_scores(random_table(np.random.default_rng([n, seed]), n, 120))
        for k in (1, 2, 3):
            best = dp(scores, treewidth=k).score
            assert dp(scores, treewidth=k, prune=False).score == pytest.approx(best, abs=1e-6)
            result = milp(scores, treewidth=k, n_jobs=2)
            assert result.status == "optimal"
            assert result.score == pytest.approx(best, abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("solver", [s for s in SOLVERS if s != "highs"])
def test_every_solver_that_is_installed_agrees(solver: str) -> None:
    pytest.importorskip(SOLVERS[solver].package, reason=f"{solver} is not installed")
    for seed in range(2):
        scores = compute_scores(random_table(np.random.default_rng(seed), 5, 80), score="aic")
        for k in (1, 2, 3):
            best = dp(scores, treewidth=k).score
            results = [
                milp_paper(scores, treewidth=k, solver=solver),
                milp(scores, treewidth=k, solver=solver),
            ]
            if solver == "scip":
                results.append(milp(scores, treewidth=k, solver=solver, cuts="tree"))
            for result in results:
                assert result.status == "optimal"
                assert result.score == pytest.approx(best, abs=2e-6)
    limited = milp_paper(scores, treewidth=2, solver=solver, max_iterations=1)
    assert limited.status in {"iteration_limit", "optimal"}


@pytest.mark.slow
def test_maximum_satisfiability_agrees() -> None:
    pytest.importorskip("pysat", reason="python-sat is not installed")
    for seed in range(3):
        scores = compute_scores(random_table(np.random.default_rng(seed), 5, 80))
        for k in (1, 2, 3, 4):
            optimum = dp(scores, treewidth=k).score
            result = maxsat(scores, treewidth=k, time_limit=2)
            assert result.score == pytest.approx(optimum, abs=1e-6)
            assert optimum <= result.bound <= optimum + 0.01 * abs(optimum)
            assert result.status == "optimal" or result.gap > 0
    cut = maxsat(scores, treewidth=1, max_iterations=1)
    assert cut.bound >= dp(scores, treewidth=1).score - 1e-9


def test_solvers_that_are_not_there_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    scores = compute_scores(random_table(np.random.default_rng(1), 5, 80))
    with pytest.raises(OptionError, match=r"unknown solver 'x'; expected one of 'highs', 'scip'"):
        learn(scores, method="milp", solver="x")
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(MissingDependencyError, match=r"needs pyscipopt, .* pip install pyscipopt"):
        learn(scores, method="milp", solver="scip")
    with pytest.raises(MissingDependencyError, match=r"needs pysat, .* pip install python-sat"):
        learn(scores, method="maxsat")
    with pytest.raises(OptionError, match="cuts in the tree need solver 'scip', got 'highs'"):
        milp(scores, treewidth=2, cuts="tree")
    with pytest.raises(OptionError, match="solver is an option of milp and milp-paper, not of"):
        learn(scores, method="dp", solver="highs")


def test_treewidth_one_agrees_with_the_best_tree() -> None:
    for seed in range(4):
        scores = compute_scores(random_table(np.random.default_rng(seed), 9, 120))
        best = learn(scores, treewidth=1, method="tree").score
        assert dp(scores, treewidth=1).score == pytest.approx(best)


@pytest.mark.slow
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
    for method in ("dp", "milp", "anneal", "exact"):
        with pytest.raises(OptionError, match="cycle: each of a, b must have a parent among them"):
            learn(ScoreTable.from_sets(["a", "b", "c"], sets), treewidth=1, method=method)


def test_required_arcs_that_are_too_wide_are_explained() -> None:
    sets: list[dict[tuple[int, ...], float]] = [{(1, 2, 3): -1.0}, {(): -1.0}, {(): -1.0}]
    sets.append({(): -1.0})
    message = "b -> a, c -> a, d -> a alone have treewidth 3 or more; the limit is 2"
    scores = ScoreTable.from_sets(["a", "b", "c", "d"], sets)
    with pytest.raises(OptionError, match=message):
        learn(scores, treewidth=2, method="exact")
    assert learn(scores, treewidth=3, method="exact").status == "optimal"


def test_a_start_is_kept_when_nothing_beats_it() -> None:
    scores = compute_scores(random_table(np.random.default_rng(3), 8, 300))
    best = dp(scores, treewidth=2)
    again = dp(scores, treewidth=2, start=best)
    assert again.status == "optimal"
    assert again.score == pytest.approx(best.score)


def test_the_portfolio_goes_on_with_the_program_when_variables_are_too_many() -> None:
    table = random_table(np.random.default_rng(1), 26, 60, max_states=2)
    scores = compute_scores(table, max_parents=1)
    with pytest.raises(MemoryLimitError):
        dp(scores, treewidth=1)
    result = learn(scores, treewidth=1, method="exact", time_limit=2)
    best = learn(scores, treewidth=1, method="tree").score
    assert result.method == "exact"
    assert result.score <= best + 1e-9 <= result.bound + 2e-6


# The paper's programs


def test_every_network_within_the_bound_is_a_point_of_the_program() -> None:
    scores = compute_scores(random_table(np.random.default_rng(2), 7, 60), prune=False)
    for k in (1, 2, 3):
        program = combined_program(scores, k)
        for seed in range(20):
            network = learn(scores, treewidth=k, method="sample", max_iterations=1, seed=seed)
            order = network.decomposition.elimination_order()
            x = program.point(network.dag, order, scores)
            assert program.program.violation(x) == 0
            assert program.dag(x, scores) == network.dag
            assert float(program.program.objective @ x) == pytest.approx(network.score)
            width = elimination_width(network.dag.moral_graph(), order)
            narrow = combined_program(scores, width - 1)
            assert narrow.program.violation(narrow.point(network.dag, order, scores)) == 1


@pytest.mark.slow
def test_the_treewidth_program_agrees_with_the_exact_algorithm() -> None:
    graphs = [*random_graphs(6, 6, seed=9), *random_graphs(9, 4, seed=10)]
    for graph in (*graphs, *random_graphs(12, 1, seed=11)):
        width = treewidth(graph).upper
        program = treewidth_program(graph)
        solution = solve(Job(program.program, time_limit=60))
        assert solution.status == "optimal"
        assert solution.x is not None
        assert round(-float(program.program.objective @ solution.x)) == width
        assert elimination_width(graph, program.elimination_order(solution.x)) == width


def test_a_treewidth_too_small_is_infeasible() -> None:
    square = Graph.from_edges(4, [(0, 1), (1, 2), (2, 3), (3, 0)])
    assert solve(Job(treewidth_program(square, 2).program, time_limit=60)).status == "optimal"
    assert solve(Job(treewidth_program(square, 1).program, time_limit=60)).status == "infeasible"


@needs_proc
def test_a_solver_killed_from_outside_leaves_a_verified_network() -> None:
    scores = compute_scores(random_table(np.random.default_rng(3), 12, 300), score="loglik")
    killer = threading.Thread(target=kill_children)
    killer.start()
    result = milp_paper(scores, treewidth=3, time_limit=60)
    killer.join()
    assert result.status == "interrupted"
    assert any("the solver process ended with code -9" in note for note in result.notes)
    assert result.score <= result.bound
    assert not children()


@needs_proc
def test_time_limits_hold_and_leave_no_process_behind() -> None:
    scores = compute_scores(random_table(np.random.default_rng(3), 12, 300), score="loglik")
    result = milp_paper(scores, treewidth=3, time_limit=1.0)
    assert result.status == "time_limit"
    assert result.score < result.bound
    assert not children()


@pytest.mark.slow
@needs_proc
def test_ctrl_c_at_any_moment_gives_a_verified_network_and_leaves_no_process(
    tmp_path: Path,
) -> None:
    """Twenty runs of the command line, each interrupted at another moment."""
    rng = np.random.default_rng(8)
    table = random_table(rng, 12, 200, max_states=2)
    rows = [",".join(table.names), *(",".join(map(str, row)) for row in table.codes)]
    path = tmp_path / "data.csv"
    path.write_text("\n".join(rows), encoding="utf-8")
    for attempt in range(20):
        method = ("exact", "milp", "milp-paper", "anneal")[attempt % 4]
        solvers: list[int] = []
        done = interrupted_command(
            "learn", path, "-k", "3", "--score", "loglik", "--method", method,
            "--time-limit", "300", "--json",
            after=1 + attempt // 4 if method == "anneal" else 1,
            before=partial(note_children, solvers),
        )  # fmt: skip
        assert "Traceback" not in done.stderr
        assert not [pid for pid in solvers if Path(f"/proc/{pid}").exists()]
        # It had a network when it reported progress.
        assert done.returncode == 0, done.stderr
        document = json.loads(done.stdout)
        assert document["treewidth"] <= 3
        assert document["status"] in {"interrupted", "optimal"}


def note_children(found: list[int], of: int) -> None:
    """Add the solver processes of another one to a list."""
    found += children(of)


def children(of: int | None = None) -> list[int]:
    """Return the solver processes that this one has started and that still run."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it may end while it is looked at
            parent = (process / "stat").read_text().rpartition(")")[2].split()[1]
            command = (process / "cmdline").read_bytes()
            if int(parent) == (of or os.getpid()) and b"twbn.solvers.highs" in command:
                found.append(int(process.name))
    return found


def kill_children() -> None:
    """Wait for a solver process to appear, and kill it."""
    while not (found := children()):
        time.sleep(0.02)
    for pid in found:
        os.kill(pid, signal.SIGKILL)


# What proofs are not allowed to claim


@pytest.mark.parametrize("method", ["dp", "milp", "milp-paper", "maxsat", "exact"])
def test_nothing_is_optimal_where_sets_were_not_scored(method: str) -> None:
    if method == "maxsat":
        pytest.importorskip("pysat", reason="python-sat is not installed")
    table = random_table(np.random.default_rng(4), 7, 200)
    some = compute_scores(table, max_parents=3, budget=4)
    assert some.info.status == "budget"
    result = learn(some, treewidth=2, method=method, time_limit=3)
    assert result.status != "optimal"
    assert result.bound >= learn(table, treewidth=2, method="dp").score


@pytest.mark.slow
@pytest.mark.parametrize("scale", [1e-7, 1e5])
def test_small_and_large_scores_are_proved_alike(scale: float) -> None:
    scores = compute_scores(random_table(np.random.default_rng(4), 5, 60), score="aic")
    sets = [{p: s * scale for s, p in scores.sets(v)} for v in range(5)]
    scaled = ScoreTable.from_sets(scores.names, sets)
    for k in (1, 2):
        best = dp(scores, treewidth=k).score * scale
        assert dp(scaled, treewidth=k).score == pytest.approx(best, rel=1e-9)
        weak = learn(scaled, treewidth=k, method="tree")
        for method in (milp, milp_paper):
            result = method(scaled, treewidth=k, start=weak)
            assert result.status == "optimal"
            assert result.score == pytest.approx(best, rel=1e-6)


def test_penalties_do_not_blunt_the_rounding_of_maxsat() -> None:
    pytest.importorskip("pysat", reason="python-sat is not installed")
    sets: list[dict[tuple[int, ...], float]] = [
        {(): -1e12, (1,): -3.0, (2,): -2.5},
        {(): -1.0, (0,): -0.5},
        {(): -1.0},
    ]
    result = maxsat(ScoreTable.from_sets(["a", "b", "c"], sets), treewidth=1)
    assert result.status == "optimal"
    assert result.score == pytest.approx(-4.0)


@pytest.mark.slow
def test_memory_that_runs_out_is_called_that_with_any_number_of_workers() -> None:
    scores = compute_scores(random_table(np.random.default_rng(3), 11, 300), score="loglik")
    for limit in np.linspace(0.002, 0.02, 6):
        result = dp(scores, treewidth=2, prune=False, n_jobs=2, memory_limit=float(limit))
        assert result.status == "memory_limit"


def test_a_solver_process_ends_with_the_process_that_started_it() -> None:
    code = (
        "import os, signal\n"
        "from twbn.solvers.job import Job\n"
        "from twbn.solvers.process import SolverProcess\n"
        "process = SolverProcess()\n"
        "process.send(Job(None))\n"
        "print(process._process.pid, flush=True)\n"
        "process.send(('rows', *[__import__('numpy').ones(0)] * 5))\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    pid = int(done.stdout)
    for _ in range(100):
        if not Path(f"/proc/{pid}").exists():
            return
        time.sleep(0.1)
    pytest.fail(f"process {pid} still runs")


def test_the_papers_program_starts_from_the_network_without_arcs_or_the_start_given() -> None:
    table = random_table(np.random.default_rng(8), 5, 60, max_states=2)
    scores = compute_scores(table, max_parents=2, prune=False)
    result = milp_paper(scores, treewidth=2, time_limit=20)
    assert result.trace[0].score == pytest.approx(scores.total(Dag.empty(5)))
    start = Dag.from_arcs(5, [(0, 1)])
    given = milp_paper(scores, treewidth=2, time_limit=20, start=start)
    assert given.trace[0].score == pytest.approx(scores.total(start))
    ruled = compute_scores(table, max_parents=2, required=[(table.names[0], table.names[1])])
    assert ruled.local(1, []) == -math.inf  # so there is no network without arcs
    assert 0 in milp_paper(ruled, treewidth=2, time_limit=20).dag.parents[1]
