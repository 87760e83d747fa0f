"""Making a graph smaller without changing its treewidth."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

from twbn import _core
from twbn.graphs.decomposition import TreeDecomposition
from twbn.graphs.graph import Graph

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["BagTree", "MaskGraph", "reduce_simplicial", "safe_separator"]


def bits(mask: int) -> Iterator[int]:
    """Yield the members of a set of vertices held as the bits of a number."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


class MaskGraph(dict[int, int]):
    """A graph that is being reduced: maps each remaining vertex to a bit mask of its neighbours."""

    @classmethod
    def of(cls, graph: Graph) -> MaskGraph:
        """Return a copy of `graph`."""
        near = cls()
        for v, around in enumerate(graph.neighbours):
            near[v] = sum(1 << u for u in around)
        return near

    @property
    def mask(self) -> int:
        """All vertices."""
        return sum(1 << v for v in self)

    def induced(self, vertices: int) -> MaskGraph:
        """Return the subgraph on some vertices."""
        part = MaskGraph()
        for v in bits(vertices):
            part[v] = self[v] & vertices
        return part

    def is_clique(self, vertices: int) -> bool:
        """Say whether the vertices are pairwise adjacent."""
        return all(vertices & ~(self[v] | 1 << v) == 0 for v in bits(vertices))

    def make_clique(self, vertices: int) -> None:
        """Add every edge among the vertices."""
        for v in bits(vertices):
            self[v] |= vertices & ~(1 << v)

    def eliminate(self, v: int) -> int:
        """Make a clique of v's neighbours and remove v; return the neighbours."""
        around = self.pop(v)
        for u in bits(around):
            self[u] = (self[u] | around) & ~(1 << v) & ~(1 << u)
        return around

    def component(self, v: int, within: int) -> int:
        """Return the vertices reached from v inside `within`."""
        reached, frontier = 0, 1 << v
        while frontier:
            reached |= frontier
            around = 0
            for u in bits(frontier):
                around |= self[u]
            frontier = around & within & ~reached
        return reached

    def component_masks(self, within: int) -> Iterator[int]:
        """Yield the connected components of the subgraph on `within`."""
        while within:
            part = self.component((within & -within).bit_length() - 1, within)
            yield part
            within &= ~part

    def components(self) -> list[MaskGraph]:
        """Return the connected components as graphs."""
        return [self.induced(part) for part in self.component_masks(self.mask)]

    def around(self, vertices: int) -> int:
        """Return the vertices outside a set that have a neighbour in it."""
        result = 0
        for v in bits(vertices):
            result |= self[v]
        return result & ~vertices

    def split(self, separator: int) -> list[MaskGraph]:
        """Return each component left by the separator, joined with it as a clique."""
        parts = []
        for component in self.component_masks(self.mask & ~separator):
            part = self.induced(component | separator)
            part.make_clique(separator)
            parts.append(part)
        return parts

    def relabelled(self) -> tuple[Graph, list[int]]:
        """Return the graph on 0..len-1 and the original label of each vertex."""
        labels = sorted(self)
        number = {v: i for i, v in enumerate(labels)}
        edges = [(number[u], number[v]) for v in labels for u in bits(self[v]) if u < v]
        return Graph.from_edges(len(labels), edges), labels

    def contraction_degeneracy(self) -> int:
        """Return the lower bound of `twbn.graphs.contraction_degeneracy`."""
        near = dict(self)
        queue = [(around.bit_count(), v) for v, around in near.items()]
        heapq.heapify(queue)
        bound = 0
        while queue:
            degree, v = heapq.heappop(queue)
            if v not in near or near[v].bit_count() != degree:
                continue  # an old entry; the vertex is queued again below
            around = near.pop(v)
            bound = max(bound, degree)
            if not around:
                continue
            into = min(bits(around), key=lambda u: (near[u] & around).bit_count())
            gained = around & ~(1 << into)
            near[into] |= gained & ~(1 << into)
            for u in bits(around):
                near[u] &= ~(1 << v)
                if u != into:
                    near[u] |= 1 << into
                heapq.heappush(queue, (near[u].bit_count(), u))
        return bound


class BagTree:
    """Bags in the order in which they were split off; `tied_together` joins them into one tree."""

    def __init__(self) -> None:
        self._bags: list[int] = []

    def add(self, bag: int) -> None:
        """Note a bag."""
        self._bags.append(bag)

    def tied_together(self, graph: Graph) -> TreeDecomposition:
        """Return a decomposition of `graph` no wider than the bags.

        The bags are those of a tree decomposition, so turning each bag into a clique makes the
        graph chordal, and maximum cardinality search finds the tree.
        """
        edges = {(u, v) for bag in self._bags for v in bits(bag) for u in bits(bag) if u < v} | set(
            graph.edges
        )
        chordal = Graph(graph.n_vertices, frozenset(edges))
        return TreeDecomposition.from_elimination_order(chordal, _perfect_order(chordal))


def reduce_simplicial(near: MaskGraph, low: int, tree: BagTree) -> int:
    """Eliminate (almost) simplicial vertices in place, recording their bags; return the new bound.

    A vertex whose neighbours form a clique can be eliminated, and its degree is a lower bound. A
    vertex whose neighbours form a clique except for one of them can be eliminated when its degree
    is at most the bound.
    """
    changed = True
    while changed and near:
        changed = False
        for v in sorted(near, key=lambda u: near[u].bit_count()):
            around = near[v]
            degree = around.bit_count()
            if near.is_clique(around):
                low = max(low, degree)
            elif degree > low or not any(near.is_clique(around & ~(1 << u)) for u in bits(around)):
                continue
            tree.add(around | 1 << v)
            near.eliminate(v)
            changed = True
    return low


def safe_separator(near: MaskGraph, time_is_over: Callable[[], bool]) -> int | None:
    """Return a separator at which splitting keeps the treewidth, or None.

    Cliques are safe, and so is a minimal separator that is a clique except for one vertex. The
    candidates are the separators of a greedy triangulation of the graph, and of the graph with
    each vertex removed in turn.
    """
    everything = near.mask
    if time_is_over():
        return None
    for candidate in _clique_separators(near, everything):
        return candidate
    for v in near:
        if time_is_over():
            return None
        rest = everything & ~(1 << v)
        for candidate in _clique_separators(near.induced(rest), rest):
            if _is_minimal_separator(near, candidate | 1 << v):
                return candidate | 1 << v
    return None


def _clique_separators(near: MaskGraph, everything: int) -> Iterator[int]:
    graph, labels = near.relabelled()
    _, order = _core.greedy_elimination(graph.n_vertices, graph.edge_array, True, 0, 2**30, None)
    filled = MaskGraph(near)
    for i in order.tolist():
        candidate = filled.eliminate(labels[i])
        if candidate and near.is_clique(candidate):
            rest = everything & ~candidate
            if rest and near.component((rest & -rest).bit_length() - 1, rest) != rest:
                yield candidate


def _is_minimal_separator(near: MaskGraph, separator: int) -> bool:
    full = 0
    for part in near.component_masks(near.mask & ~separator):
        full += near.around(part) == separator
    return full >= 2


def _perfect_order(graph: Graph) -> list[int]:
    """Return the reverse of a maximum cardinality search; perfect if the graph is chordal."""
    weight = dict.fromkeys(range(graph.n_vertices), 0)
    order: list[int] = []
    while weight:
        v = max(weight, key=weight.__getitem__)
        del weight[v]
        order.append(v)
        for u in graph.neighbours[v]:
            if u in weight:
                weight[u] += 1
    return order[::-1]
