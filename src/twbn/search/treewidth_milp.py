"""The treewidth of a graph by the paper's first program."""

from __future__ import annotations

import math
import time
import warnings
from typing import TYPE_CHECKING

from twbn.errors import MemoryLimitError
from twbn.graphs.decomposition import TreeDecomposition
from twbn.graphs.treewidth import TreewidthResult, lower_bound
from twbn.graphs.treewidth import treewidth as by_search
from twbn.interrupts import keeps_best
from twbn.scores.compute import n_workers
from twbn.search.milp import treewidth_program
from twbn.search.options import check_budget
from twbn.search.solver import require_solver, solve

if TYPE_CHECKING:
    from twbn.graphs.graph import Graph

__all__ = ["treewidth_by_program"]

#: Rows of the program, cubic in the vertices, beyond which it is not even built.
MAX_ROWS = 5_000_000


@keeps_best
def treewidth_by_program(
    graph: Graph,
    *,
    time_limit: float | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
    solver: str = "highs",
) -> TreewidthResult:
    """Return the treewidth with an elimination order, by integer programming.

    Anytime: bounds when the time is over. The decomposition is that of the order, whose bags span
    the chordal graph of the solution. Meant for graphs of a dozen or two of vertices; the search of
    `twbn.treewidth` is faster by far.
    """
    time_limit = check_budget(1, time_limit, None, seed, n_jobs)
    require_solver(solver)
    begun = time.perf_counter()
    n = graph.n_vertices
    if n**3 // 2 > MAX_ROWS:
        msg = f"the program for {n} vertices has {n**3 // 2:,} rows; at most {MAX_ROWS:,} are built"
        raise MemoryLimitError(msg)
    known = by_search(graph, exact=False, seed=seed)
    if not graph.edges:
        return known
    program = treewidth_program(graph)
    solution = solve(
        program.program, solver=solver, time_limit=time_limit, seed=seed, n_jobs=n_workers(n_jobs)
    )
    if solution.status in {"failed", "refused"}:
        warnings.warn(f"solver {solver!r} failed: {solution.detail}", stacklevel=2)
    upper, proof = known.upper, known.decomposition
    if solution.x is not None:
        found = TreeDecomposition.from_elimination_order(
            graph, program.elimination_order(solution.x)
        )
        if found.width <= upper:
            upper, proof = found.width, found
    lower = lower_bound(graph)
    if solution.status == "optimal":
        lower = upper
    elif math.isfinite(solution.bound):
        lower = max(lower, math.ceil(-solution.bound - 1e-6))
    status = "interrupted" if solution.status in {"failed", "refused"} else solution.status
    if lower == upper:
        status = "optimal"
    return TreewidthResult(lower, upper, proof, status, time.perf_counter() - begun)
