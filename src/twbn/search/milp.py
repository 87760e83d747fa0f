"""The paper's integer programs: treewidth, structure inside a chordal graph, and both combined.

One function per family of constraints; the equation each stands for is that of the paper's
programs (treewidth: ``(1)``, structure: ``(2)``), lettered in the order of the text.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations, permutations
from typing import TYPE_CHECKING

import numpy as np

from twbn.graphs.dag import Dag
from twbn.search.program import Program, ProgramBuilder
from twbn.search.relaxation import most_edges

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from twbn.graphs.graph import Graph
    from twbn.scores.score_table import ScoreTable

__all__ = [
    "StructureProgram",
    "TreewidthProgram",
    "combined_program",
    "inside_program",
    "strengthened_program",
    "treewidth_program",
]


@dataclass(frozen=True)
class TreewidthProgram:
    """The program of all chordalisations: y[i, j] = 1 if j is a later neighbour of i; order z."""

    program: Program
    y: NDArray[np.int64]  # [n, n]; the diagonal is -1
    z: NDArray[np.int64]

    def elimination_order(self, x: NDArray[np.float64]) -> list[int]:
        """Return an order of elimination that a solution stands for."""
        return [int(v) for v in np.argsort(x[self.z], kind="stable")]


@dataclass(frozen=True)
class StructureProgram:
    """The combined program: as `TreewidthProgram`, with one column per parent set and order v."""

    program: Program
    y: NDArray[np.int64]
    z: NDArray[np.int64]
    pi: NDArray[np.int64]  # by position in the score table
    v: NDArray[np.int64]

    def elimination_order(self, x: NDArray[np.float64]) -> list[int]:
        """Return an order of elimination that a solution stands for."""
        return [int(v) for v in np.argsort(x[self.z], kind="stable")]

    def dag(self, x: NDArray[np.float64], table: ScoreTable) -> Dag:
        """Return the network of a solution: the parent set with the largest weight of each."""
        chosen = []
        for v in range(table.n_variables):
            first, last = table.variable_offsets[v : v + 2]
            t = int(first + np.argmax(x[self.pi[first:last]]))
            low, high = table.set_offsets[t : t + 2]
            chosen.append(tuple(table.parents[low:high].tolist()))
        return Dag(tuple(chosen))

    def without(self, sets: NDArray[np.bool_]) -> StructureProgram:
        """Return the program with some parent sets, marked by position, fixed at zero."""
        upper, objective = self.program.upper.copy(), self.program.objective.copy()
        upper[self.pi[sets]] = objective[self.pi[sets]] = 0.0
        return replace(self, program=replace(self.program, upper=upper, objective=objective))

    def point(self, dag: Dag, order: Sequence[int], table: ScoreTable) -> NDArray[np.float64]:
        """Return the solution that a network and an elimination order of it stand for."""
        from twbn.graphs.decomposition import higher_neighbours

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
            first = int(table.variable_offsets[child])
            t = next(t for t, (_, members) in enumerate(table.sets(child)) if members == parents)
            x[self.pi[first + t]] = 1.0
        return x


def treewidth_program(graph: Graph, width: int | None = None) -> TreewidthProgram:
    """Return the first program: supergraphs of `graph` of treewidth at most `width`.

    With `width` None the width itself is a variable, which the program makes as small as it can.
    """
    n = graph.n_vertices
    build = ProgramBuilder()
    y, z = _order_columns(build, n)
    if width is None:
        w = build.add_columns([-1.0], lower=0, upper=max(n - 1, 0), integer=True)
        rows = np.column_stack([_later_neighbours(y), np.full(n, w[0])])
        build.add_rows(rows, [*[1.0] * (n - 1), -1.0], upper=0.0)  # (1a) with w a variable
    else:
        _bound_width(build, y, width)
    _orient_by_order(build, y, z)
    for i, j in sorted(graph.edges):
        build.add_rows([[y[i, j], y[j, i]]], 1.0, lower=1.0, upper=1.0)  # (1c)
    _close_triangles(build, y)
    return TreewidthProgram(build.build(), y, z)


def combined_program(table: ScoreTable, width: int) -> StructureProgram:
    """Return the program that learns networks of treewidth at most `width`, as printed."""
    n = table.n_variables
    build = ProgramBuilder()
    y, z = _order_columns(build, n)
    pi = build.add_columns(table.scores, lower=0, upper=1, integer=True)
    v = build.add_columns(np.zeros(n), lower=0, upper=n, integer=False)
    _bound_width(build, y, width)
    _orient_by_order(build, y, z)
    _close_triangles(build, y)
    _choose_one_set(build, table, pi)
    _respect_topological_order(build, table, pi, v)
    _families_inside_graph(build, table, pi, y)
    return StructureProgram(build.build(), y, z, pi, v)


def inside_program(table: ScoreTable, graph: Graph) -> StructureProgram:
    """Return the second program: the best network whose moral graph lies in a chordal `graph`.

    The edges are given, so there are no columns for them (y and z are empty); a family that is not
    a clique of the graph is fixed at zero.
    """
    n = table.n_variables
    build = ProgramBuilder()
    inside = [
        all(graph.has_edge(a, b) for a, b in combinations((child, *parents), 2))
        for child in range(n)
        for _, parents in table.sets(child)
    ]
    pi = build.add_columns(table.scores, lower=0, upper=np.where(inside, 1.0, 0.0), integer=True)
    v = build.add_columns(np.zeros(n), lower=0, upper=n, integer=False)
    _choose_one_set(build, table, pi)
    _respect_topological_order(build, table, pi, v)
    nothing = np.empty((0, 0), dtype=np.int64)
    return StructureProgram(build.build(), nothing, nothing[0:0].ravel(), pi, v)


def strengthened_program(
    table: ScoreTable,
    width: int,
    clusters: Sequence[Sequence[int]] = (),
    dense_sets: Sequence[Sequence[int]] = (),
) -> StructureProgram:
    """Return the combined program with fewer and tighter rows, and with cuts.

    Rows of single parent sets are added up over the sets with the same arc, or with the same two
    parents, which only one of them can have; `clusters` and `dense_sets` are cuts
    (`search/relaxation.py`).
    """
    n = table.n_variables
    build = ProgramBuilder()
    y, z = _order_columns(build, n)
    pi = build.add_columns(table.scores, lower=0, upper=1, integer=True)
    v = build.add_columns(np.zeros(n), lower=0, upper=n, integer=False)
    _bound_width(build, y, width)
    _orient_by_order(build, y, z)
    _close_triangles(build, y)
    _choose_one_set(build, table, pi)
    _arcs_respect_order(build, table, pi, v)
    _arcs_need_edges(build, table, pi, y)
    _co_parents_need_edges(build, table, pi, y)
    _break_clusters(build, table, pi, clusters)
    _thin_dense_sets(build, y, width, dense_sets)
    return StructureProgram(build.build(), y, z, pi, v)


# The columns and the families of rows


def _order_columns(build: ProgramBuilder, n: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """y_ij in {0, 1} (1f) for i != j, and z_i in [0, n] (1e)."""
    y = np.full((n, n), -1, dtype=np.int64)
    y[~np.eye(n, dtype=bool)] = build.add_columns(
        np.zeros(n * (n - 1)), lower=0, upper=1, integer=True
    )
    return y, build.add_columns(np.zeros(n), lower=0, upper=n, integer=False)


def _later_neighbours(y: NDArray[np.int64]) -> NDArray[np.int64]:
    n = len(y)
    return y[~np.eye(n, dtype=bool)].reshape(n, n - 1)


def _bound_width(build: ProgramBuilder, y: NDArray[np.int64], width: int) -> None:
    """(1a): at most `width` later neighbours."""
    build.add_rows(_later_neighbours(y), 1.0, upper=width)


def _orient_by_order(build: ProgramBuilder, y: NDArray[np.int64], z: NDArray[np.int64]) -> None:
    """(1b): (n + 1) y_ij <= n + z_j - z_i."""
    n = len(z)
    i, j = np.nonzero(~np.eye(n, dtype=bool))
    build.add_rows(np.column_stack([y[i, j], z[j], z[i]]), [n + 1.0, -1.0, 1.0], upper=n)


def _close_triangles(build: ProgramBuilder, y: NDArray[np.int64]) -> None:
    """(1d): two later neighbours of i are neighbours, y_ij + y_ik - (y_jk + y_kj) <= 1."""
    triples = np.array([t for t in permutations(range(len(y)), 3) if t[1] < t[2]], dtype=np.int64)
    if len(triples):
        i, j, k = triples.T
        rows = np.column_stack([y[i, j], y[i, k], y[j, k], y[k, j]])
        build.add_rows(rows, [1.0, 1.0, -1.0, -1.0], upper=1.0)


def _choose_one_set(build: ProgramBuilder, table: ScoreTable, pi: NDArray[np.int64]) -> None:
    """(2a): every variable has exactly one parent set."""
    for v in range(table.n_variables):
        first, last = table.variable_offsets[v : v + 2]
        build.add_rows(pi[first:last][None, :], 1.0, lower=1.0, upper=1.0)


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
        (s, int(j), int(k))
        for s in np.flatnonzero(np.diff(table.set_offsets) >= 2)
        for a, j in enumerate(table.parents[table.set_offsets[s] : table.set_offsets[s + 1]])
        for k in table.parents[table.set_offsets[s] + a + 1 : table.set_offsets[s + 1]]
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
        first = int(table.variable_offsets[child])
        sets: dict[tuple[int, int], list[int]] = {}
        for t, (_, parents) in enumerate(table.sets(child)):
            for pair in combinations(parents, 2):
                sets.setdefault(pair, []).append(first + t)
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
    families = [
        (first + t, frozenset(parents))
        for v, first in enumerate(table.variable_offsets[:-1].tolist())
        for t, (_, parents) in enumerate(table.sets(v))
    ]
    child = np.repeat(np.arange(table.n_variables), np.diff(table.variable_offsets))
    for members in clusters:
        inside = frozenset(members)
        free = [t for t, parents in families if int(child[t]) in inside and not parents & inside]
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
    sets = np.repeat(np.arange(table.n_sets), np.diff(table.set_offsets))
    children = np.repeat(np.arange(table.n_variables), np.diff(table.variable_offsets))
    return children[sets], sets
