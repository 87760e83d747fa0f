"""The treewidth of a graph by the paper's first integer program; other programs reuse its rows."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np

from twbn.checks import checked_n_jobs, checked_seed, checked_time_limit
from twbn.deadline import Deadline
from twbn.errors import MemoryLimitError
from twbn.graphs.decomposition import TreeDecomposition
from twbn.graphs.treewidth.bounds import contraction_degeneracy
from twbn.graphs.treewidth.exact import TreewidthResult
from twbn.graphs.treewidth.exact import treewidth as by_search
from twbn.interrupts import keeps_best
from twbn.solvers import Job, Program, ProgramBuilder, require_solver, solve

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from twbn.graphs.graph import Graph
    from twbn.graphs.treewidth.exact import Status

__all__ = [
    "TreewidthProgram",
    "close_triangles",
    "limit_width",
    "order_columns",
    "orient_by_order",
    "treewidth_by_program",
    "treewidth_program",
]

#: Largest number of rows, cubic in the number of vertices, for which the program is built.
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

    Anytime: when the time limit is reached, the result holds bounds. The decomposition is that of
    the elimination order; its bags span the chordal graph of the solution. Meant for graphs with a
    dozen or two vertices; the search of `twbn.treewidth` is much faster.
    """
    time_limit = checked_time_limit(time_limit)
    seed = checked_seed(seed)
    require_solver(solver)
    clock = Deadline(time_limit)
    n = graph.n_vertices
    if n**3 // 2 > MAX_ROWS:
        msg = f"the program for {n} vertices has {n**3 // 2:,} rows; at most {MAX_ROWS:,} are built"
        raise MemoryLimitError(msg)
    known = by_search(graph, exact=False, seed=seed)
    if not graph.edges:
        return known
    program = treewidth_program(graph)
    job = Job(program.program, time_limit, seed=seed, n_jobs=checked_n_jobs(n_jobs))
    solution = solve(job, solver=solver)
    if solution.status in {"failed", "refused"}:
        warnings.warn(f"solver {solver!r} failed: {solution.detail}", stacklevel=2)
    upper, proof = known.upper, known.decomposition
    if solution.x is not None:
        found = TreeDecomposition.from_elimination_order(
            graph, program.elimination_order(solution.x)
        )
        if found.width <= upper:
            upper, proof = found.width, found
    lower = contraction_degeneracy(graph)
    if solution.status == "optimal":
        lower = upper
    elif math.isfinite(solution.bound):
        lower = max(lower, math.ceil(-solution.bound - 1e-6))
    status: Status = "interrupted"
    if lower == upper:
        status = "optimal"
    elif solution.status == "time_limit":
        status = "time_limit"
    return TreewidthResult(lower, upper, proof, status, clock.seconds)


@dataclass(frozen=True)
class TreewidthProgram:
    """The program of all chordalisations: y[i, j] = 1 if j is a later neighbour of i; order z."""

    program: Program
    y: NDArray[np.int64]  # [n, n]; the diagonal is -1
    z: NDArray[np.int64]

    def elimination_order(self, x: NDArray[np.float64]) -> list[int]:
        """Return the elimination order encoded by a solution."""
        return [int(v) for v in np.argsort(x[self.z], kind="stable")]


def treewidth_program(graph: Graph, width: int | None = None) -> TreewidthProgram:
    """Return the first program: supergraphs of `graph` of treewidth at most `width`.

    If `width` is None, the width itself is a variable that the program minimises.
    """
    n = graph.n_vertices
    build = ProgramBuilder()
    y, z = order_columns(build, n)
    if width is None:
        w = build.add_columns([-1.0], lower=0, upper=max(n - 1, 0), integer=True)
        rows = np.column_stack([later_neighbours(y), np.full(n, w[0])])
        build.add_rows(rows, [*[1.0] * (n - 1), -1.0], upper=0.0)  # (1a) with w a variable
    else:
        limit_width(build, y, width)
    orient_by_order(build, y, z)
    for i, j in sorted(graph.edges):
        build.add_rows([[y[i, j], y[j, i]]], 1.0, lower=1.0, upper=1.0)  # (1c)
    close_triangles(build, y)
    return TreewidthProgram(build.build(), y, z)


def order_columns(build: ProgramBuilder, n: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Add y_ij in {0, 1} (1f) for i != j, and z_i in [0, n] (1e)."""
    y = np.full((n, n), -1, dtype=np.int64)
    y[~np.eye(n, dtype=bool)] = build.add_columns(
        np.zeros(n * (n - 1)), lower=0, upper=1, integer=True
    )
    return y, build.add_columns(np.zeros(n), lower=0, upper=n, integer=False)


def later_neighbours(y: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return, for each vertex, the columns of its arcs to all others."""
    n = len(y)
    return y[~np.eye(n, dtype=bool)].reshape(n, n - 1)


def limit_width(build: ProgramBuilder, y: NDArray[np.int64], width: int) -> None:
    """Add (1a): at most `width` later neighbours."""
    build.add_rows(later_neighbours(y), 1.0, upper=width)


def orient_by_order(build: ProgramBuilder, y: NDArray[np.int64], z: NDArray[np.int64]) -> None:
    """Add (1b): (n + 1) y_ij <= n + z_j - z_i."""
    n = len(z)
    i, j = np.nonzero(~np.eye(n, dtype=bool))
    build.add_rows(np.column_stack([y[i, j], z[j], z[i]]), [n + 1.0, -1.0, 1.0], upper=n)


def close_triangles(build: ProgramBuilder, y: NDArray[np.int64]) -> None:
    """Add (1d): two later neighbours of i are neighbours, y_ij + y_ik - (y_jk + y_kj) <= 1."""
    triples = np.array([t for t in permutations(range(len(y)), 3) if t[1] < t[2]], dtype=np.int64)
    if len(triples):
        i, j, k = triples.T
        rows = np.column_stack([y[i, j], y[i, k], y[j, k], y[k, j]])
        build.add_rows(rows, [1.0, 1.0, -1.0, -1.0], upper=1.0)
