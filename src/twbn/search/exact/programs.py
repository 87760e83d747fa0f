"""The integer programs of structure learning: the paper's combined one, and one with cuts.

One function per family of constraints; the equation each stands for is that of the paper's
programs (treewidth: ``(1)``, structure: ``(2)``), lettered in the order of the text. The rows of
the treewidth program are in `twbn.graphs.treewidth.program`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from twbn.graphs.dag import Dag
from twbn.graphs.decomposition import higher_neighbours
from twbn.graphs.treewidth.program import (
    close_triangles,
    limit_width,
    order_columns,
    orient_by_order,
)
from twbn.search.bound.multipliers import most_edges
from twbn.search.exact.relation_rows import keep_relations
from twbn.solvers import Program, ProgramBuilder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from twbn.scores.score_table import ScoreTable
    from twbn.search.relations import Relations

__all__ = [
    "StructureProgram",
    "combined_program",
    "strengthened_program",
]


@dataclass(frozen=True)
class StructureProgram:
    """The combined program: as `TreewidthProgram`, with one column per parent set and order v."""

    program: Program
    y: NDArray[np.int64]
    z: NDArray[np.int64]
    pi: NDArray[np.int64]  # by position in the score table
    v: NDArray[np.int64]

    def elimination_order(self, x: NDArray[np.float64]) -> list[int]:
        """Return the elimination order encoded by a solution."""
        return [int(v) for v in np.argsort(x[self.z], kind="stable")]

    def dag(self, x: NDArray[np.float64], table: ScoreTable) -> Dag:
        """Return the structure of a solution: the heaviest parent set of each variable."""
        chosen = []
        for v in range(table.n_variables):
            own = table.positions(v)
            best = own[int(np.argmax(x[self.pi[own.start : own.stop]]))]
            chosen.append(table.parents_at(best))
        return Dag(tuple(chosen))

    def without(self, sets: NDArray[np.bool_]) -> StructureProgram:
        """Return the program with some parent sets, marked by position, fixed at zero."""
        upper, objective = self.program.upper.copy(), self.program.objective.copy()
        upper[self.pi[sets]] = objective[self.pi[sets]] = 0.0
        return replace(self, program=replace(self.program, upper=upper, objective=objective))

    def point(self, dag: Dag, order: Sequence[int], table: ScoreTable) -> NDArray[np.float64]:
        """Return the solution that encodes a structure and an elimination order of it."""
        n = table.n_variables
        x = np.zeros(self.program.n_columns)
        place = {u: i for i, u in enumerate(order)}
        if len(self.z):
            x[self.z] = [place[u] for u in range(n)]
            for i, later in enumerate(higher_neighbours(dag.moral_graph(), order)):
                for j in later:
                    x[self.y[i, j]] = 1.0
        # v falls from parents to children: constraint (2b) reads v_parent >= v_child + 1.
        x[self.v[list(dag.topological_order)]] = np.arange(n)[::-1]
        for child, parents in enumerate(dag.parents):
            x[self.pi[table.position(child, parents)]] = 1.0
        return x


def combined_program(table: ScoreTable, width: int) -> StructureProgram:
    """Return the paper's program for structures of treewidth at most `width`, as printed."""
    build, y, z, pi, v = _begun(table, width)
    _respect_topological_order(build, table, pi, v)
    _families_inside_graph(build, table, pi, y)
    return StructureProgram(build.build(), y, z, pi, v)


def strengthened_program(
    table: ScoreTable,
    width: int,
    clusters: Sequence[Sequence[int]] = (),
    dense_sets: Sequence[Sequence[int]] = (),
    relations: Relations | None = None,
) -> StructureProgram:
    """Return the combined program with fewer and tighter rows, and with cuts.

    Rows of single parent sets are summed over the sets that share an arc or a pair of parents,
    since at most one of these sets is chosen; `clusters` and `dense_sets` are cuts
    (`search/bound/relaxation.py`).
    """
    build, y, z, pi, v = _begun(table, width)
    _arcs_respect_order(build, table, pi, v)
    _arcs_need_edges(build, table, pi, y)
    _co_parents_need_edges(build, table, pi, y)
    _break_clusters(build, table, pi, clusters)
    _thin_dense_sets(build, y, width, dense_sets)
    if relations:
        keep_relations(build, _arc_columns(build, table, pi), relations)
    return StructureProgram(build.build(), y, z, pi, v)


# The columns and the families of rows


def _begun(
    table: ScoreTable, width: int
) -> tuple[
    ProgramBuilder, NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]
]:
    """Return a builder with the columns y, z, pi and v and the rows that every program has."""
    n = table.n_variables
    build = ProgramBuilder()
    y, z = order_columns(build, n)
    pi = build.add_columns(table.scores, lower=0, upper=1, integer=True)
    v = build.add_columns(np.zeros(n), lower=0, upper=n, integer=False)
    limit_width(build, y, width)
    orient_by_order(build, y, z)
    close_triangles(build, y)
    _choose_one_set(build, table, pi)
    return build, y, z, pi, v


def _choose_one_set(build: ProgramBuilder, table: ScoreTable, pi: NDArray[np.int64]) -> None:
    """(2a): every variable has exactly one parent set."""
    for v in range(table.n_variables):
        own = table.positions(v)
        build.add_rows(pi[own.start : own.stop][None, :], 1.0, lower=1.0, upper=1.0)


def _respect_topological_order(
    build: ProgramBuilder, table: ScoreTable, pi: NDArray[np.int64], v: NDArray[np.int64]
) -> None:
    """(2b): (n + 1) pi_it <= n + v_j - v_i for every parent j of the set."""
    n = table.n_variables
    child, t = _children_and_sets(table)
    parent = table.parents.astype(np.int64)
    rows = np.column_stack([pi[t], v[parent], v[child]])
    build.add_rows(rows, [n + 1.0, -1.0, 1.0], upper=n)


def _families_inside_graph(
    build: ProgramBuilder, table: ScoreTable, pi: NDArray[np.int64], y: NDArray[np.int64]
) -> None:
    """(2c), (2d): a family that is chosen is a clique of the chordal graph."""
    child, t = _children_and_sets(table)
    parent = table.parents.astype(np.int64)
    rows = np.column_stack([pi[t], y[child, parent], y[parent, child]])
    build.add_rows(rows, [1.0, -1.0, -1.0], upper=0.0)
    pairs = [
        (s, j, k)
        for s in np.flatnonzero(table.set_sizes >= 2).tolist()
        for j, k in combinations(table.parents_at(s), 2)
    ]
    if pairs:
        s, j, k = np.array(pairs, dtype=np.int64).T
        build.add_rows(np.column_stack([pi[s], y[j, k], y[k, j]]), [1.0, -1.0, -1.0], upper=0.0)


def _sets_by_arc(table: ScoreTable) -> dict[tuple[int, int], list[int]]:
    """Return the sets with each arc, by (child, parent)."""
    child, t = _children_and_sets(table)
    sets: dict[tuple[int, int], list[int]] = {}
    for i, j, position in zip(child.tolist(), table.parents.tolist(), t.tolist(), strict=True):
        sets.setdefault((i, j), []).append(position)
    return sets


def _arc_columns(
    build: ProgramBuilder, table: ScoreTable, pi: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Add a column for each arc, the sum over the sets with it; return them by [parent, child]."""
    n = table.n_variables
    sets = _sets_by_arc(table)
    arc = np.full((n, n), -1, dtype=np.int64)
    for u, v in zip(*np.nonzero(~np.eye(n, dtype=bool)), strict=True):
        chosen = sets.get((int(v), int(u)), [])
        arc[u, v] = build.add_columns([0.0], lower=0, upper=float(bool(chosen)), integer=False)[0]
        build.add_rows([[arc[u, v], *pi[chosen]]], [1.0, *[-1.0] * len(chosen)], lower=0, upper=0)
    return arc


def _arcs_respect_order(
    build: ProgramBuilder, table: ScoreTable, pi: NDArray[np.int64], v: NDArray[np.int64]
) -> None:
    """(2b), added up: (n + 1) sum of pi_it over sets with j <= n + v_j - v_i."""
    n = table.n_variables
    for (i, j), sets in _sets_by_arc(table).items():
        values = [*[n + 1.0] * len(sets), -1.0, 1.0]
        build.add_rows([[*pi[sets], v[j], v[i]]], values, upper=n)


def _arcs_need_edges(
    build: ProgramBuilder, table: ScoreTable, pi: NDArray[np.int64], y: NDArray[np.int64]
) -> None:
    """(2c), added up over the sets with one arc, in either direction: at most one is there."""
    arcs = _sets_by_arc(table)
    for i, j in combinations(range(table.n_variables), 2):
        build.add_rows([[y[i, j], y[j, i]]], 1.0, upper=1.0)
        sets = [t for key in ((i, j), (j, i)) for t in arcs.get(key, ())]
        if sets:
            build.add_rows(
                [[*pi[sets], y[i, j], y[j, i]]], [*[1.0] * len(sets), -1.0, -1.0], upper=0.0
            )


def _co_parents_need_edges(
    build: ProgramBuilder, table: ScoreTable, pi: NDArray[np.int64], y: NDArray[np.int64]
) -> None:
    """(2d), added up over the sets of one child with the same two parents."""
    for child in range(table.n_variables):
        sets: dict[tuple[int, int], list[int]] = {}
        for t in table.positions(child):
            for pair in combinations(table.parents_at(t), 2):
                sets.setdefault(pair, []).append(t)
        for (j, k), chosen in sets.items():
            build.add_rows(
                [[*pi[chosen], y[j, k], y[k, j]]], [*[1.0] * len(chosen), -1.0, -1.0], upper=0.0
            )


def _break_clusters(
    build: ProgramBuilder,
    table: ScoreTable,
    pi: NDArray[np.int64],
    clusters: Sequence[Sequence[int]],
) -> None:
    """In every cluster some member has no parent in it."""
    families = [frozenset(table.parents_at(t)) for t in range(table.n_sets)]
    for members in clusters:
        inside = frozenset(members)
        own = (t for v in sorted(inside) for t in table.positions(v))
        free = [t for t in own if not families[t] & inside]
        build.add_rows([pi[free]], 1.0, lower=1.0)


def _thin_dense_sets(
    build: ProgramBuilder,
    y: NDArray[np.int64],
    width: int,
    dense_sets: Sequence[Sequence[int]],
) -> None:
    """Allow k|U| - k(k + 1)/2 edges inside U: no graph of treewidth k has more."""
    for members in dense_sets:
        places = [p for i, j in combinations(members, 2) for p in (y[i, j], y[j, i])]
        build.add_rows([places], 1.0, upper=most_edges(len(members), width))


def _children_and_sets(table: ScoreTable) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return for every entry of `table.parents` its child and its set."""
    sets = np.repeat(np.arange(table.n_sets), table.set_sizes)
    return table.children[sets], sets
