"""Directed acyclic graphs: the structures of Bayesian networks."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations, pairwise
from typing import TYPE_CHECKING

from twbn.errors import GraphError, Part, Vertex
from twbn.graphs.graph import Graph
from twbn.views import Viewed

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["Cpdag", "Dag"]


@dataclass(frozen=True)
class Dag(Viewed):
    """A directed acyclic graph, as the parents of every vertex.

    Invariant: no directed cycle; the parents of each vertex are ascending and distinct. `names`
    are those of the variables, for display; graphs that differ only in them are equal.

    Examples
    --------
    >>> dag = Dag.from_arcs(3, [(0, 2), (1, 2)])
    >>> dag.parents
    ((), (), (0, 1))
    >>> sorted(dag.moral_graph().edges)
    [(0, 1), (0, 2), (1, 2)]
    """

    parents: tuple[tuple[int, ...], ...]
    names: tuple[str, ...] | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        n = len(self.parents)
        tidy = tuple(tuple(sorted(int(p) for p in parents)) for parents in self.parents)
        object.__setattr__(self, "parents", tidy)
        for child, parents in enumerate(tidy):
            if parents and not (parents[0] >= 0 and parents[-1] < n):
                bad = parents[0] if parents[0] < 0 else parents[-1]
                detail = f" has parent {bad}, expected 0..{n - 1}"
                raise GraphError("vertex ", Vertex(child), detail)
            if len(set(parents)) < len(parents):
                twice = next(p for p, q in pairwise(parents) if p == q)
                raise GraphError(
                    "vertex ", Vertex(child), " has the parent ", Vertex(twice), " twice"
                )
        if len(self.topological_order) < n:
            cycle: list[Part] = []
            for v in self._some_cycle():
                cycle += [" -> ", Vertex(v)] if cycle else [Vertex(v)]
            raise GraphError("the arcs contain a directed cycle: ", *cycle)

    @classmethod
    def from_arcs(cls, n_vertices: int, arcs: Iterable[tuple[int, int]]) -> Dag:
        """Return the graph of arcs (parent, child)."""
        parents: list[list[int]] = [[] for _ in range(n_vertices)]
        for parent, child in arcs:
            if not 0 <= child < n_vertices:
                msg = f"arc {(parent, child)} does not fit a graph on 0..{n_vertices - 1}"
                raise GraphError(msg)
            parents[child].append(parent)
        return cls(tuple(map(tuple, parents)))

    @classmethod
    def empty(cls, n_vertices: int) -> Dag:
        """Return the graph without arcs."""
        return cls(((),) * n_vertices)

    def named(self, names: Iterable[str]) -> Dag:
        """Return the graph with names for its vertices, which notebooks show."""
        given = (names,) if isinstance(names, str) else tuple(map(str, names))
        if len(set(given)) < len(given):
            twice = next(name for i, name in enumerate(given) if name in given[:i])
            msg = f"two vertices are called {twice!r}"
            raise GraphError(msg)
        if len(given) != self.n_vertices:
            msg = f"{len(given)} names do not fit a graph of {self.n_vertices} vertices"
            raise GraphError(msg)
        if given == self.names:
            return self
        dag = copy.copy(self)  # with what was computed of it
        object.__setattr__(dag, "names", given)
        return dag

    @property
    def n_vertices(self) -> int:
        """Number of vertices."""
        return len(self.parents)

    @cached_property
    def arcs(self) -> tuple[tuple[int, int], ...]:
        """Arcs (parent, child), sorted."""
        return tuple(sorted((p, child) for child, ps in enumerate(self.parents) for p in ps))

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """Children of each vertex, ascending."""
        lists: list[list[int]] = [[] for _ in self.parents]
        for parent, child in self.arcs:
            lists[parent].append(child)
        return tuple(tuple(sorted(c)) for c in lists)

    @cached_property
    def topological_order(self) -> tuple[int, ...]:
        """An order with every parent before its children; ties go to the smallest vertex."""
        import heapq

        children: list[list[int]] = [[] for _ in self.parents]
        waiting = [len(parents) for parents in self.parents]
        for child, parents in enumerate(self.parents):
            for parent in parents:
                children[parent].append(child)
        free = [v for v, count in enumerate(waiting) if count == 0]
        order: list[int] = []
        while free:
            v = heapq.heappop(free)
            order.append(v)
            for child in children[v]:
                waiting[child] -= 1
                if waiting[child] == 0:
                    heapq.heappush(free, child)
        return tuple(order)

    def moral_graph(self) -> Graph:
        """Return the graph with parents of a common child joined and directions dropped."""
        edges: set[tuple[int, int]] = set()
        for child, parents in enumerate(self.parents):
            edges.update((min(p, child), max(p, child)) for p in parents)
            edges.update(combinations(parents, 2))
        return Graph(self.n_vertices, frozenset(edges))

    def skeleton(self) -> Graph:
        """Return the graph with directions dropped."""
        return Graph.from_edges(self.n_vertices, self.arcs)

    def v_structures(self) -> frozenset[tuple[int, int, int]]:
        """Return (a, child, b) for parents a < b of one child that are not adjacent."""
        skeleton = self.skeleton()
        return frozenset(
            (a, child, b)
            for child, parents in enumerate(self.parents)
            for a, b in combinations(parents, 2)
            if not skeleton.has_edge(a, b)
        )

    def cpdag(self) -> Cpdag:
        """Return the Markov equivalence class: arcs that all members share, and the other edges.

        Notes
        -----
        The arcs of v-structures, closed under Meek's first three rules (Meek, 1995).
        """
        directed = {(a, c) for a, c, _ in self.v_structures()}
        directed |= {(b, c) for _, c, b in self.v_structures()}
        undirected = {(min(a, b), max(a, b)) for a, b in self.arcs if (a, b) not in directed}
        adjacent = self.skeleton().neighbours
        while True:
            forced = {
                (a, b)
                for u, v in undirected
                for a, b in ((u, v), (v, u))
                if _meek_directs(a, b, directed, undirected, adjacent)
            }
            if not forced:
                return Cpdag(self.n_vertices, frozenset(directed), frozenset(undirected))
            directed |= forced
            undirected -= {(min(a, b), max(a, b)) for a, b in forced}

    def is_equivalent(self, other: Dag) -> bool:
        """Say whether both graphs imply the same independences (Verma and Pearl)."""
        return self.skeleton() == other.skeleton() and self.v_structures() == other.v_structures()

    def _some_cycle(self) -> Sequence[int]:
        stuck = set(range(len(self.parents))) - set(self.topological_order)
        # Every stuck vertex has a stuck parent, so walking up must revisit a vertex.
        walk = [min(stuck)]
        while walk[-1] not in walk[:-1]:
            walk.append(next(p for p in self.parents[walk[-1]] if p in stuck))
        return walk[walk.index(walk[-1]) :][::-1]

    def __repr__(self) -> str:
        return f"Dag({self.n_vertices} vertices, {len(self.arcs)} arcs)"


@dataclass(frozen=True)
class Cpdag:
    """A Markov equivalence class: `directed` arcs are shared, `undirected` edges are free."""

    n_vertices: int
    directed: frozenset[tuple[int, int]]
    undirected: frozenset[tuple[int, int]]

    def distance(self, other: Cpdag | Dag) -> int:
        """Return the structural Hamming distance: how many pairs the classes join differently.

        Pairs that only one of them joins, or one by an arc and the other by an edge or the opposite
        arc (Tsamardinos, Brown and Aliferis, 2006).
        """
        if self.n_vertices != other.n_vertices:
            msg = f"only structures of one size are compared: {self.n_vertices}, {other.n_vertices}"
            raise GraphError(msg)
        theirs = (other.cpdag() if isinstance(other, Dag) else other)._marks()
        ours = self._marks()
        return sum(ours.get(pair) != theirs.get(pair) for pair in ours.keys() | theirs.keys())

    def _marks(self) -> dict[tuple[int, int], int]:
        """Return for every joined pair u < v: 1 for u -> v, -1 for v -> u, 0 for an edge."""
        marks = {(min(u, v), max(u, v)): 1 if u < v else -1 for u, v in self.directed}
        return marks | dict.fromkeys(self.undirected, 0)


def _meek_directs(
    a: int,
    b: int,
    directed: set[tuple[int, int]],
    undirected: set[tuple[int, int]],
    adjacent: Sequence[frozenset[int]],
) -> bool:
    """Say whether one of Meek's rules 1 to 3 turns the edge a - b into a -> b."""
    for c in adjacent[a]:
        if (c, a) in directed and c != b and c not in adjacent[b]:
            return True  # rule 1: c -> a - b without c - b
        if (a, c) in directed and (c, b) in directed:
            return True  # rule 2: a -> c -> b
    between = [
        c
        for c in adjacent[a] & adjacent[b]
        if (min(a, c), max(a, c)) in undirected and (c, b) in directed
    ]
    return any(d not in adjacent[c] for c, d in combinations(between, 2))  # rule 3
