"""Exact learning by weighted MaxSAT, after Berg, Järvisalo and Malone (2014)."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from twbn.graphs.dag import Dag
from twbn.graphs.decomposition import TreeDecomposition
from twbn.interrupts import keeps_best
from twbn.scores.tabulate import tabulated
from twbn.search.anneal import anneal
from twbn.search.options import SearchOptions
from twbn.search.result import SearchResult, TracePoint
from twbn.search.solver import require_package, run_job

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from twbn.scores.protocol import LocalScores
    from twbn.scores.score_table import ScoreTable
    from twbn.search.options import Progress, Start

__all__ = ["maxsat"]

#: Proposals of annealing for the network that is returned when the proof does not come in time.
START_ITERATIONS = 400_000
#: Share of the score that the last rounding may hide.
ROUNDING = 1e-7


@keeps_best
def maxsat(
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
    """Return the best network of bounded treewidth by weighted MaxSAT.

    The solver goes by unsatisfiable cores, with scores rounded more and more finely: the bound
    falls until it meets the optimum. `max_iterations` limits the cores.

    Notes
    -----
    RC2 of python-sat (`pip install python-sat`), in a process of its own. The last rounding is
    to nine digits of the largest loss; bounds allow for it.
    """
    options = SearchOptions.check(
        scores, treewidth=treewidth, time_limit=time_limit, max_iterations=max_iterations,
        seed=seed, n_jobs=n_jobs, start=start,
    )  # fmt: skip
    require_package("method 'maxsat'", "pysat", "python-sat")
    unlimited = time_limit is None
    table = tabulated(scores)
    n = options.n
    known = anneal(
        table, treewidth=options.treewidth, max_iterations=START_ITERATIONS, seed=options.seed,
        start=None if options.start is None else options.start[0],
        time_limit=None if unlimited else max((options.time_left or 0.0) / 2, 0.001),
    )  # fmt: skip
    if known.status == "interrupted":
        return replace(known, scores=scores, method="maxsat", seconds=options.seconds)
    best = table.best()
    losses = np.repeat(best, np.diff(table.variable_offsets)) - table.scores
    # A set that loses more than the network known does in all is in no better network.
    spare = float(best.sum()) - known.score
    losses[losses > spare + 1e-6 * max(abs(spare), 1.0)] = np.inf
    trace = [TracePoint(options.seconds, 0, known.score, known.bound)]
    found = known

    def listen(x: NDArray[np.float64] | None, bound: float) -> None:
        nonlocal found
        if x is not None:
            found = _better(found, x, table)
        if max_iterations is None:  # cores come by the clock
            point = TracePoint(options.seconds, 0, found.score, max(bound, found.score))
            if point.bound < trace[-1].bound or point.score > trace[-1].score:
                trace.append(point)
        if on_progress is not None:
            on_progress(options.seconds, 0, found.score)

    job = {
        "n": n, "k": options.k, "offsets": table.variable_offsets, "set_offsets": table.set_offsets,
        "parents": table.parents, "losses": losses, "best": float(best.sum()),
        "max_cores": options.max_iterations,
    }  # fmt: skip
    solution = run_job(
        "twbn.search.maxsat_process", job, on_news=listen,
        time_limit=None if unlimited else options.time_left,
    )  # fmt: skip
    if solution.x is not None:
        found = _better(found, solution.x, table)
    status, notes = solution.status, options.notes
    bound = max(min(solution.bound, known.bound), found.score)
    if bound - found.score <= ROUNDING * abs(found.score):
        status, bound = "optimal", found.score
    elif status == "optimal":
        status = "iteration_limit"
        notes = (*notes, "the finest rounding of the scores leaves this gap")
    if status in {"failed", "infeasible"}:
        status, notes = "interrupted", (*notes, f"solver: {solution.detail}")
    trace.append(TracePoint(options.seconds, solution.n_nodes, found.score, bound))
    return SearchResult(
        scores, found.dag, found.decomposition, options.treewidth, "maxsat", status, bound,
        solution.n_nodes, options.seconds, options.seed, tuple(trace), notes,
    )  # fmt: skip


def _better(best: SearchResult, x: NDArray[np.float64], table: ScoreTable) -> SearchResult:
    """Return the network of a solution, its sets and an elimination order, if it is better."""
    n = table.n_variables
    chosen = x[:n].astype(np.int64)
    dag = Dag(
        tuple(
            tuple(table.parents[table.set_offsets[t] : table.set_offsets[t + 1]].tolist())
            for t in chosen
        )
    )
    if table.total(dag) <= best.score:
        return best
    order = [int(v) for v in x[n:]]
    proof = TreeDecomposition.from_elimination_order(dag.moral_graph(), order)
    return replace(best, scores=table, dag=dag, decomposition=proof, bound=math.inf)
