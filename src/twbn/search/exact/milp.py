"""Exact learning by integer programming: the paper's program, and one with cuts."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from twbn.errors import GraphError, MemoryLimitError, Option, OptionError
from twbn.graphs.dag import Dag
from twbn.graphs.decomposition import TreeDecomposition
from twbn.graphs.treewidth import treewidth as exact_treewidth
from twbn.scores.tabulate import tabulated
from twbn.search.bound import upper_bound
from twbn.search.exact.programs import StructureProgram, combined_program, strengthened_program
from twbn.search.heuristic.anneal import anneal
from twbn.search.method import register, search_method
from twbn.search.result import STATUSES, TOLERANCE, TracePoint
from twbn.solvers import SOLVERS, Job, require_solver, solve
from twbn.solvers.job import Families

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from twbn.scores.protocol import LocalScores
    from twbn.scores.score_table import ScoreTable
    from twbn.search.bound import Bound
    from twbn.search.result import SearchResult, Status
    from twbn.search.run import Run

__all__ = ["CUTS", "milp", "milp_paper"]

#: Largest number of rows, cubic in the number of variables, for which the program is built.
MAX_ROWS = 5_000_000
#: Proposals of annealing for the structure that the solver starts from.
START_ITERATIONS = 400_000
#: Share of the score that a solver's tolerances, of columns and of the objective, may hide.
SOLVER_TOLERANCE = 1e-7
#: Fraction of the time limit, and most seconds, for cuts on the relaxation before solving.
CUT_SHARE, CUT_SECONDS = 0.2, 20.0
#: When cuts are separated: on the relaxation before the solver starts, or also in its tree.
CUTS = ("root", "tree")


_SOLVER = f"one of {', '.join(SOLVERS)}; HiGHS is always installed"


@register
@search_method("milp-paper", "the paper's integer program as printed; anytime", solver=_SOLVER)
def milp_paper(scores: LocalScores, run: Run, *, solver: str = "highs") -> SearchResult:
    """Return the best structure of bounded treewidth by the paper's program, as it is printed.

    The solver starts from `start` or from the structure without arcs and gets no other help; `milp`
    starts from one that annealing found. Anytime: when the time limit is reached, the best
    structure and the best bound are returned. `max_iterations` limits the nodes of the search tree;
    without either limit, it runs until the program is solved.

    Notes
    -----
    The solver works in a process of its own. Its tolerances may hide 1e-7 of the score.
    """
    table = _checked_table(scores, run, solver)
    known = _without_help(table, run) or _annealed(table, run)
    search = _SolverSearch(table, run, known)
    return search.solve(lambda: combined_program(table, run.k), solver)


@register
@search_method(
    "milp",
    "an integer program with cuts; anytime",
    keeps_relations=True,
    solver=_SOLVER,
    cuts="root: before the solver starts; tree: in its search tree, too (SCIP)",
)
def milp(
    scores: LocalScores, run: Run, *, solver: str = "highs", cuts: str = "root"
) -> SearchResult:
    """Return the best structure of bounded treewidth by the program with cuts.

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
    Anytime, like `milp_paper`. The relaxation, its cuts and the initial bound come from
    `upper_bound`.
    """
    if cuts not in CUTS:
        raise OptionError(Option("cuts"), f" must be one of {', '.join(CUTS)}, got {cuts!r}")
    if cuts == "tree" and solver != "scip":
        raise OptionError(Option("cuts"), f" in the tree need solver 'scip', got {solver!r}")
    table = _checked_table(scores, run, solver)
    search = _SolverSearch(table, run, _annealed(table, run))
    known = search.best
    if run.n == 1:
        return search.finish("optimal", known.score, 0)
    if known.status == "interrupted":
        return search.finish("interrupted", known.bound, 0)
    relaxed = _relaxed(table, run, known.score)
    search.note(*(f"bound: {note}" for note in relaxed.notes))
    if relaxed.status == "interrupted":
        return search.finish("interrupted", relaxed.value, 0)
    if relaxed.value <= known.score + TOLERANCE * abs(known.score):
        return search.finish("optimal", known.score, 0)
    search.tighten(relaxed.value)
    clusters, dense = list(relaxed.multipliers.clusters), list(relaxed.multipliers.dense_sets)
    hopeless = table.hopeless(known.score)
    return search.solve(
        lambda: strengthened_program(table, run.k, clusters, dense, run.relations).without(
            hopeless
        ),
        solver,
        cuts == "tree",
    )


def _checked_table(scores: LocalScores, run: Run, solver: str) -> ScoreTable:
    require_solver(solver)
    n_rows = run.n**3 // 2
    if n_rows > MAX_ROWS:
        msg = (
            f"the program for {run.n} variables has {n_rows:,} rows; at most {MAX_ROWS:,} are built"
        )
        raise MemoryLimitError(msg)
    return tabulated(scores)


def _annealed(table: ScoreTable, run: Run) -> SearchResult:
    """Return a structure for the solver to start from."""
    return anneal(table, run.half_time(scores=table, max_iterations=START_ITERATIONS, n_jobs=None))


def _without_help(table: ScoreTable, run: Run) -> SearchResult | None:
    """Return the given start, or the structure without arcs; None if that is not in the scores.

    The solver in the paper had no start; with one, there is always a result.
    """
    bare = Dag.empty(run.n)
    dag, proof = run.first or (
        bare,
        TreeDecomposition.from_elimination_order(bare.moral_graph(), range(run.n)),
    )
    if not math.isfinite(table.total(dag)):
        return None
    return run.with_changes(scores=table).result(
        dag, proof, status="iteration_limit", bound=table.trivial_bound()
    )


def _relaxed(table: ScoreTable, run: Run, known: float) -> Bound:
    """Return the bound of the relaxation, with the cuts that it has found."""
    seconds = CUT_SECONDS
    if not run.unlimited:
        seconds = min(CUT_SECONDS, CUT_SHARE * (run.time_left or 0.0))
    # With a limit on nodes alone, cuts must be the same every time, so their time is not limited.
    free = run.max_iterations is not None and run.unlimited
    return upper_bound(
        table,
        treewidth=run.treewidth_limit,
        seed=run.seed,
        n_jobs=run.n_jobs,
        edges=True,
        time_limit=None if free else max(seconds, 0.1),
        good_enough=known,
    )


class _SolverSearch:
    """One run of a solver: the best structure so far, and the best bound."""

    def __init__(self, table: ScoreTable, run: Run, known: SearchResult) -> None:
        self._table = table
        self._run = run
        self.best = known
        self._bound = known.bound
        self._notes = run.notes
        self._trace = [TracePoint(run.seconds, 0, known.score, known.bound)]

    def note(self, *notes: str) -> None:
        """Add notes to the result."""
        self._notes = (*self._notes, *notes)

    def tighten(self, bound: float) -> None:
        """Adopt a bound found elsewhere, if it is lower."""
        self._bound = min(self._bound, bound)

    def solve(
        self, build: Callable[[], StructureProgram], solver: str, tree_cuts: bool = False
    ) -> SearchResult:
        """Return the best structure that a solver finds."""
        run, table = self._run, self._table
        if run.n == 1:
            return self.finish("optimal", self.best.score, 0)
        if self.best.status == "interrupted":
            return self.finish("interrupted", self._bound, 0)
        program, factor = self._scaled(build())
        families = Families(program.pi, table.variable_offsets, table.set_offsets, table.parents)
        job = Job(
            program.program,
            time_limit=None if run.unlimited and run.max_iterations is None else run.time_left,
            start=program.point(self.best.dag, self.best.decomposition.elimination_order(), table),
            max_nodes=run.max_iterations,
            n_jobs=1 if run.max_iterations is not None else run.workers,
            seed=run.seed,
            families=families if tree_cuts else None,
        )

        def listen(x: NDArray[np.float64] | None, bound: float) -> None:
            self._listen(program, x, bound / factor)

        solution = solve(job, solver=solver, on_news=listen)
        if solution.x is not None:
            self._take(program, solution.x)
        if solution.status == "refused":
            msg = f"solver {solver!r} refuses: {solution.detail}"
            raise OptionError(msg)
        if solution.status in {"failed", "infeasible"}:
            self.note(f"solver: {solution.detail}")
            return self.finish("interrupted", math.inf, solution.n_nodes)
        status: Status = "time_limit"
        if solution.status in STATUSES:
            status = solution.status
        return self.finish(status, solution.bound / factor, solution.n_nodes)

    def _listen(
        self, program: StructureProgram, x: NDArray[np.float64] | None, bound: float
    ) -> None:
        """Record what the solver reports."""
        if x is not None:
            self._take(program, x)
        # When bounds arrive depends on timing, so reproducible runs must not record them.
        if x is not None or self._run.max_iterations is None:
            score = self.best.score
            best = max(min(bound, self._bound), score)
            self._trace.append(TracePoint(self._run.seconds, 0, score, best))
        self._run.tell(0, self.best.score)

    def _scaled(self, program: StructureProgram) -> tuple[StructureProgram, float]:
        """Return the program with small scores scaled up, and the factor.

        Solvers only have absolute tolerances.
        """
        spare = self._table.spare(self.best.score)
        factor = 1.0 / spare if 0.0 < spare < 1.0 else 1.0
        objective = program.program.objective * factor
        return replace(program, program=replace(program.program, objective=objective)), factor

    def finish(self, status: Status, bound: float, n_nodes: int) -> SearchResult:
        """Return the best structure with what is proved of it."""
        best = self.best
        bound = max(min(bound, self._bound), best.score)
        if bound - best.score <= SOLVER_TOLERANCE * max(abs(best.score), 1e-300):
            status, bound = "optimal", best.score
        elif status == "optimal":  # its solution is worse than what it proved, or unusable
            status = "iteration_limit"
            self.note("the solver's own optimum could not be verified")
        self._trace.append(TracePoint(self._run.seconds, n_nodes, best.score, bound))
        return self._run.result(
            best.dag,
            best.decomposition,
            status=status,
            bound=bound,
            n_iterations=n_nodes,
            trace=tuple(_rising(self._trace)),
            notes=self._notes,
        )

    def _take(self, program: StructureProgram, x: NDArray[np.float64]) -> None:
        """Keep the structure of a solution if it is valid and better."""
        try:
            dag = program.dag(x, self._table)
        except GraphError:  # a solution that is acyclic only within the solver's tolerance
            return
        if self._table.total(dag) <= self.best.score:
            return
        proof = _proof(dag, program.elimination_order(x), self.best.treewidth_limit)
        if proof is not None:
            run = self._run.with_changes(scores=self._table)
            self.best = run.result(dag, proof, status="time_limit", bound=math.inf)


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
