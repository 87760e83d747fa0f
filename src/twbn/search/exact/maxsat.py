"""Exact search by weighted MaxSAT, after Berg, Järvisalo and Malone (2014)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from twbn.graphs.dag import Dag
from twbn.graphs.decomposition import TreeDecomposition
from twbn.scores.tabulate import tabulated
from twbn.search.heuristic.anneal import anneal
from twbn.search.method import register, search_method
from twbn.search.result import STATUSES, TracePoint
from twbn.solvers import require_package
from twbn.solvers.job import MaxSatJob
from twbn.solvers.solve import run_job

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from twbn.scores.protocol import LocalScores
    from twbn.scores.score_table import ScoreTable
    from twbn.search.result import SearchResult, Status
    from twbn.search.run import Run

__all__ = ["maxsat"]

#: Proposals of annealing for the structure that is returned when the proof does not come in time.
START_ITERATIONS = 400_000
#: Fraction of the score that the last rounding may hide.
ROUNDING = 1e-7


@register
@search_method("maxsat", "weighted MaxSAT, proved (needs python-sat)")
def maxsat(scores: LocalScores, run: Run) -> SearchResult:
    """Return the best structure of bounded treewidth by weighted MaxSAT.

    The solver works with unsatisfiable cores and rounds the scores ever more finely: the bound
    decreases until it meets the optimum. `max_iterations` limits the number of cores.

    Notes
    -----
    Runs RC2 of python-sat (`pip install python-sat`) in a separate process. The last rounding is
    to nine digits of the largest loss; bounds allow for it.
    """
    require_package("method 'maxsat'", "pysat", "python-sat")
    table = tabulated(scores)
    start = run.half_time(scores=table, max_iterations=START_ITERATIONS, n_jobs=None)
    known = anneal(table, start)
    if known.status == "interrupted":
        return known.but(method=run.method, seconds=run.seconds)
    return _MaxSatSearch(table, run, known).run()


class _MaxSatSearch:
    """One run of the solver: the best structure and the best bound so far."""

    def __init__(self, table: ScoreTable, run: Run, known: SearchResult) -> None:
        self._table = table
        self._run = run
        self._known = self._best = known
        self._trace = [TracePoint(run.seconds, 0, known.score, known.bound)]

    def run(self) -> SearchResult:
        run, table = self._run, self._table
        losses = np.where(table.hopeless(self._known.score), np.inf, table.losses())
        job = MaxSatJob(
            run.n,
            run.k,
            table.variable_offsets,
            table.set_offsets,
            table.parents,
            losses,
            best=float(table.best().sum()),
            max_cores=run.max_iterations,
        )
        solution = run_job(
            "twbn.solvers.rc2", job, on_news=self._listen, time_limit=run.time_left_if_limited
        )
        if solution.x is not None:
            self._take(solution.x)
        best, notes = self._best, run.notes
        status: Status = "interrupted"
        if solution.status in STATUSES:
            status = solution.status
        else:
            notes = (*notes, f"solver: {solution.detail}")
        bound = max(min(solution.bound, self._known.bound), best.score)
        if bound - best.score <= ROUNDING * abs(best.score):
            status, bound, notes = "optimal", best.score, run.notes
        elif status == "optimal":
            status = "iteration_limit"
            notes = (*notes, "the finest rounding of the scores leaves this gap")
        self._trace.append(TracePoint(run.seconds, solution.n_nodes, best.score, bound))
        return run.result(
            best.dag,
            best.decomposition,
            status=status,
            bound=bound,
            n_iterations=solution.n_nodes,
            trace=tuple(self._trace),
            notes=notes,
        )

    def _listen(self, x: NDArray[np.float64] | None, bound: float) -> None:
        """Record what the solver reports."""
        if x is not None:
            self._take(x)
        if self._run.max_iterations is None:  # when cores arrive depends on timing
            score, last = self._best.score, self._trace[-1]
            point = TracePoint(self._run.seconds, 0, score, max(bound, score))
            if point.bound < last.bound or point.score > last.score:
                self._trace.append(point)
        self._run.tell(0, self._best.score)

    def _take(self, x: NDArray[np.float64]) -> None:
        """Keep the structure of a solution, its sets and an elimination order, if it is better."""
        n = self._run.n
        dag = Dag(tuple(self._table.parents_at(int(t)) for t in x[:n]))
        if self._table.total(dag) <= self._best.score:
            return
        order = [int(v) for v in x[n:]]
        proof = TreeDecomposition.from_elimination_order(dag.moral_graph(), order)
        run = self._run.with_changes(scores=self._table)
        self._best = run.result(dag, proof, status="time_limit", bound=math.inf)
