"""Exact learning by the paper's integer program."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from twbn.errors import MemoryLimitError
from twbn.graphs.decomposition import TreeDecomposition
from twbn.graphs.treewidth import treewidth as exact_treewidth
from twbn.scores.tabulate import tabulated
from twbn.search.milp import StructureProgram, combined_program
from twbn.search.options import SearchOptions
from twbn.search.result import TOLERANCE, SearchResult, TracePoint
from twbn.search.sample import sample
from twbn.search.solver import solve

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from twbn.graphs.dag import Dag
    from twbn.scores.protocol import LocalScores
    from twbn.scores.score_table import ScoreTable
    from twbn.search.options import Progress, Start

__all__ = ["milp_paper"]

#: Rows of the program, cubic in the variables, beyond which it is not even built.
MAX_ROWS = 5_000_000


def milp_paper(
    scores: LocalScores,
    *,
    treewidth: int,
    time_limit: float | None = None,
    max_iterations: int | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
    start: Start | None = None,
    on_progress: Progress | None = None,
) -> SearchResult:
    """Return the best network of bounded treewidth by the paper's program, as it is printed.

    Anytime: the best network and the best bound when the time is over. `max_iterations` limits the
    nodes of the search tree; with neither limit it runs until it is solved.

    Notes
    -----
    The solver (HiGHS) works in a process of its own. Its tolerance is 1e-6 in the score.
    """
    unlimited = time_limit is None
    options = SearchOptions.check(
        scores, treewidth=treewidth, time_limit=time_limit, max_iterations=max_iterations,
        seed=seed, n_jobs=n_jobs, start=start,
    )  # fmt: skip
    n_rows = options.n**3 // 2
    if n_rows > MAX_ROWS:
        msg = (
            f"the program for {options.n} variables has {n_rows:,} rows; "
            f"at most {MAX_ROWS:,} are built"
        )
        raise MemoryLimitError(msg)
    table = tabulated(scores)
    known = _first_network(table, options)
    if options.n == 1:
        return replace(known, scores=scores, method="milp-paper")
    program = combined_program(table, options.k)
    trace = [TracePoint(options.seconds, 0, known.score, known.bound)]
    best = known

    def listen(x: NDArray[np.float64] | None, bound: float) -> None:
        nonlocal best
        if x is not None:
            best = _better(best, program, x, table)
        # Bounds arrive by the clock: they have no place where the answer must be the same again.
        if x is not None or max_iterations is None:
            trace.append(TracePoint(options.seconds, 0, best.score, min(bound, known.bound)))
        if on_progress is not None:
            on_progress(options.seconds, 0, best.score)

    solution = solve(
        program.program,
        time_limit=None if unlimited else options.time_left,
        start=program.point(known.dag, known.decomposition.elimination_order(), table),
        max_nodes=options.max_iterations,
        n_jobs=1 if options.max_iterations is not None else options.n_jobs,
        seed=options.seed,
        on_news=listen,
    )
    if solution.x is not None:
        best = _better(best, program, solution.x, table)
    bound = max(min(solution.bound, known.bound), best.score)
    status, notes = solution.status, options.notes
    if status == "optimal" or bound - best.score <= TOLERANCE * abs(best.score):
        status, bound = "optimal", best.score  # to within the solver's tolerance of 1e-6
    if status in {"failed", "infeasible"}:
        status, notes = "interrupted", (*notes, f"solver: {solution.detail}")
    trace.append(TracePoint(options.seconds, solution.n_nodes, best.score, bound))
    return SearchResult(
        scores, best.dag, best.decomposition, options.treewidth, "milp-paper", status, bound,
        solution.n_nodes, options.seconds, options.seed, tuple(_rising(trace)), notes,
    )  # fmt: skip


def _first_network(table: ScoreTable, options: SearchOptions) -> SearchResult:
    start = None if options.start is None else options.start[0]
    return sample(
        table, treewidth=options.treewidth, max_iterations=1000, seed=options.seed, start=start
    )


def _better(
    best: SearchResult, program: StructureProgram, x: NDArray[np.float64], table: ScoreTable
) -> SearchResult:
    """Return the network of a solution if it is one and better; the old one otherwise."""
    from twbn.errors import GraphError

    try:
        dag = program.dag(x, table)
    except GraphError:  # a solution that is acyclic only within the solver's tolerance
        return best
    if table.total(dag) <= best.score:
        return best
    proof = _proof(dag, program.elimination_order(x), best.treewidth_bound)
    if proof is None:
        return best
    return replace(best, scores=table, dag=dag, decomposition=proof, bound=math.inf)


def _proof(dag: Dag, order: list[int], width: int) -> TreeDecomposition | None:
    moral = dag.moral_graph()
    proof = TreeDecomposition.from_elimination_order(moral, order)
    if proof.width > width:  # ties of z within the solver's tolerance
        proof = exact_treewidth(moral, time_limit=10.0).decomposition
    return proof if proof.width <= width else None


def _rising(trace: list[TracePoint]) -> list[TracePoint]:
    """Return the points at which score or bound improved."""
    kept: list[TracePoint] = []
    for point in trace:
        if not kept or point.score > kept[-1].score or point.bound < kept[-1].bound:
            kept.append(point)
    return kept
