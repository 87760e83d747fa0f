"""Exact learning by integer programs: the paper's, and one with cuts."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from twbn.errors import GraphError, MemoryLimitError, OptionError
from twbn.graphs.dag import Dag
from twbn.graphs.decomposition import TreeDecomposition
from twbn.graphs.treewidth import treewidth as exact_treewidth
from twbn.interrupts import keeps_best
from twbn.scores.tabulate import tabulated
from twbn.search.anneal import anneal
from twbn.search.bound import upper_bound
from twbn.search.milp import StructureProgram, combined_program, strengthened_program
from twbn.search.options import SearchOptions
from twbn.search.result import TOLERANCE, SearchResult, TracePoint
from twbn.search.solver import require_solver, solve

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from twbn.scores.protocol import LocalScores
    from twbn.scores.score_table import ScoreTable
    from twbn.search.options import Progress, Start

__all__ = ["CUTS", "milp", "milp_paper"]

#: Rows of the program, cubic in the variables, beyond which it is not even built.
MAX_ROWS = 5_000_000
#: Proposals of annealing for the network that the solver starts from.
START_ITERATIONS = 400_000
#: Share of the score that a solver's tolerances, of columns and of the objective, may hide.
SOLVER_TOLERANCE = 1e-7
#: Share of the time limit, and seconds at most, for cuts on the relaxation before the solver.
CUT_SHARE, CUT_SECONDS = 0.2, 20.0
#: When cuts are separated: on the relaxation before the solver starts, or also in its tree.
CUTS = ("root", "tree")


@keeps_best
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
    solver: str = "highs",
) -> SearchResult:
    """Return the best network of bounded treewidth by the paper's program, as it is printed.

    The solver starts from `start` or from the network without arcs and gets no other help; `milp`
    starts from a network that annealing found. Anytime: the best network and the best bound when
    the time is over. `max_iterations` limits the nodes of the search tree; with neither limit it
    runs until it is solved.

    Notes
    -----
    The solver works in a process of its own. Its tolerances may hide 1e-7 of the score.
    """
    options = SearchOptions.check(
        scores, treewidth=treewidth, time_limit=time_limit, max_iterations=max_iterations,
        seed=seed, n_jobs=n_jobs, start=start,
    )  # fmt: skip
    table = _checked_table(scores, options, solver)
    return _Run("milp-paper", scores, table, options, time_limit is None, on_progress).solve(
        lambda: combined_program(table, options.k), solver
    )


@keeps_best
def milp(
    scores: LocalScores,
    *,
    treewidth: int,
    time_limit: float | None = None,
    max_iterations: int | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
    start: Start | None = None,
    on_progress: Progress | None = None,
    solver: str = "highs",
    cuts: str = "root",
) -> SearchResult:
    """Return the best network of bounded treewidth by the program with cuts.

    Parameters
    ----------
    solver
        ``"highs"``, or another that is installed: ``"scip"``, ``"gurobi"``, ``"cplex"``,
        ``"cpsat"``.
    cuts
        ``"root"``: cuts are separated on the relaxation, then the solver is called once.
        ``"tree"``: the solver separates more of them while it searches (SCIP only; after
        Parviainen, Farahani and Lagergren, 2014).

    Notes
    -----
    Anytime, as `milp_paper`. The relaxation with its cuts is that of `upper_bound`, whose bound is
    taken over.
    """
    options = SearchOptions.check(
        scores, treewidth=treewidth, time_limit=time_limit, max_iterations=max_iterations,
        seed=seed, n_jobs=n_jobs, start=start,
    )  # fmt: skip
    if cuts not in CUTS:
        msg = f"cuts must be one of {', '.join(CUTS)}, got {cuts!r}"
        raise OptionError(msg)
    if cuts == "tree" and solver != "scip":
        msg = f"cuts in the tree need solver 'scip', got {solver!r}"
        raise OptionError(msg)
    table = _checked_table(scores, options, solver)
    run = _Run("milp", scores, table, options, time_limit is None, on_progress)
    if options.n == 1:
        return run.finish("optimal", run.best.score, 0)
    if run.best.status == "interrupted":
        return run.finish("interrupted", run.best.bound, 0)
    seconds = CUT_SECONDS
    if time_limit is not None:
        seconds = min(CUT_SECONDS, CUT_SHARE * (options.time_left or 0.0))
    # A budget in nodes alone has to give the same cuts every time: they take the time they need.
    free = max_iterations is not None and time_limit is None
    relaxed = upper_bound(
        table, treewidth=options.treewidth, seed=options.seed, n_jobs=options.n_jobs, edges=True,
        time_limit=None if free else max(seconds, 0.1),
        good_enough=run.best.score,
    )  # fmt: skip
    run.note(*(f"bound: {note}" for note in relaxed.notes))
    if relaxed.status == "interrupted":
        return run.finish("interrupted", relaxed.value, 0)
    if relaxed.value <= run.best.score + TOLERANCE * abs(run.best.score):
        return run.finish("optimal", run.best.score, 0)
    run.lower_bound(relaxed.value)
    found = relaxed.multipliers
    clusters, dense = list(found.clusters), list(found.dense_sets)
    return run.solve(
        lambda: strengthened_program(table, options.k, clusters, dense).without(run.hopeless()),
        solver,
        cuts == "tree",
    )


def _checked_table(scores: LocalScores, options: SearchOptions, solver: str) -> ScoreTable:
    require_solver(solver)
    n_rows = options.n**3 // 2
    if n_rows > MAX_ROWS:
        msg = (
            f"the program for {options.n} variables has {n_rows:,} rows; "
            f"at most {MAX_ROWS:,} are built"
        )
        raise MemoryLimitError(msg)
    return tabulated(scores)


class _Run:
    """One run of a solver: the best network so far, and the best bound."""

    def __init__(
        self,
        method: str,
        scores: LocalScores,
        table: ScoreTable,
        options: SearchOptions,
        unlimited: bool,
        on_progress: Progress | None,
    ) -> None:
        self._method = method
        self._scores = scores
        self._table = table
        self._options = options
        self._unlimited = unlimited and options.max_iterations is None
        self._on_progress = on_progress
        self.best = self._without_help() or anneal(
            table, treewidth=options.treewidth, max_iterations=START_ITERATIONS, seed=options.seed,
            start=None if options.start is None else options.start[0],
            time_limit=None if unlimited else max((options.time_left or 0.0) / 2, 0.001),
        )  # fmt: skip
        self._bound = self.best.bound
        self._notes = options.notes
        self._trace = [TracePoint(options.seconds, 0, self.best.score, self._bound)]

    def _without_help(self) -> SearchResult | None:
        """Return a start for the paper's program; None for `milp`, or if it is no network.

        The paper's solver had none. With the network without arcs there is always a result.

        Rules may forbid the network without arcs.
        """
        options = self._options
        if self._method != "milp-paper":
            return None
        bare = Dag.empty(options.n)
        graph = bare.moral_graph()
        dag, proof = options.start or (
            bare, TreeDecomposition.from_elimination_order(graph, range(options.n))
        )  # fmt: skip
        if not math.isfinite(self._table.total(dag)):
            return None
        return SearchResult(
            self._table, dag, proof, options.treewidth, self._method, "iteration_limit",
            self._table.upper_bound(), 0, options.seconds, options.seed,
        )  # fmt: skip

    def note(self, *notes: str) -> None:
        """Add notes to the result."""
        self._notes = (*self._notes, *notes)

    def lower_bound(self, bound: float) -> None:
        """Take over a bound that was found elsewhere."""
        self._bound = min(self._bound, bound)

    def solve(
        self, build: Callable[[], StructureProgram], solver: str, tree_cuts: bool = False
    ) -> SearchResult:
        options, table = self._options, self._table
        if options.n == 1:
            return self.finish("optimal", self.best.score, 0)
        if self.best.status == "interrupted":
            return self.finish("interrupted", self._bound, 0)
        program, factor = self._scaled(build())

        def listen(x: NDArray[np.float64] | None, bound: float) -> None:
            bound /= factor
            if x is not None:
                self._take(program, x)
            # Bounds arrive by the clock: no place for them where answers must be the same again.
            if x is not None or options.max_iterations is None:
                point = TracePoint(
                    options.seconds,
                    0,
                    self.best.score,
                    max(min(bound, self._bound), self.best.score),
                )
                self._trace.append(point)
            if self._on_progress is not None:
                self._on_progress(options.seconds, 0, self.best.score)

        order = self.best.decomposition.elimination_order()
        solution = solve(
            program.program,
            solver=solver,
            time_limit=None if self._unlimited else options.time_left,
            start=program.point(self.best.dag, order, table),
            max_nodes=options.max_iterations,
            n_jobs=1 if options.max_iterations is not None else options.n_jobs,
            seed=options.seed,
            on_news=listen,
            families=(program.pi, table) if tree_cuts else None,
        )
        if solution.x is not None:
            self._take(program, solution.x)
        if solution.status == "refused":
            msg = f"solver {solver!r} refuses: {solution.detail}"
            raise OptionError(msg)
        bound = solution.bound / factor
        if solution.status in {"failed", "infeasible"}:
            self._notes = (*self._notes, f"solver: {solution.detail}")
            return self.finish("interrupted", math.inf, solution.n_nodes)
        return self.finish(solution.status, bound, solution.n_nodes)

    def hopeless(self) -> NDArray[np.bool_]:
        """Say of every parent set whether it is in no network better than the best known.

        Such a set loses more, against the best of its variable, than that network does in all.
        """
        best = self._table.best()
        losses = np.repeat(best, np.diff(self._table.variable_offsets)) - self._table.scores
        return losses > self._spare + 1e-6 * max(abs(self._spare), 1.0)

    @property
    def _spare(self) -> float:
        """How much a better network may lose against the best sets of all variables."""
        return float(self._table.best().sum()) - self.best.score

    def _scaled(self, program: StructureProgram) -> tuple[StructureProgram, float]:
        """Return the program with small scores scaled up, and the factor.

        Solvers know absolute tolerances only.
        """
        factor = 1.0 / self._spare if 0.0 < self._spare < 1.0 else 1.0
        objective = program.program.objective * factor
        return replace(program, program=replace(program.program, objective=objective)), factor

    def finish(self, status: str, bound: float, n_nodes: int) -> SearchResult:
        options, best = self._options, self.best
        bound = max(min(bound, self._bound), best.score)
        if bound - best.score <= SOLVER_TOLERANCE * max(abs(best.score), 1e-300):
            status, bound = "optimal", best.score
        elif status == "optimal":  # what the solver proved is not what it gave, or we could not use
            status = "iteration_limit"
            self._notes = (*self._notes, "the solver's own optimum could not be verified")
        self._trace.append(TracePoint(options.seconds, n_nodes, best.score, bound))
        return SearchResult(
            self._scores, best.dag, best.decomposition, options.treewidth, self._method, status,
            bound, n_nodes, options.seconds, options.seed, tuple(_rising(self._trace)), self._notes,
        )  # fmt: skip

    def _take(self, program: StructureProgram, x: NDArray[np.float64]) -> None:
        """Keep the network of a solution if it is one and better."""
        try:
            dag = program.dag(x, self._table)
        except GraphError:  # a solution that is acyclic only within the solver's tolerance
            return
        if self._table.total(dag) <= self.best.score:
            return
        proof = _proof(dag, program.elimination_order(x), self.best.treewidth_bound)
        if proof is not None:
            self.best = replace(
                self.best, scores=self._table, dag=dag, decomposition=proof, bound=math.inf
            )


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
