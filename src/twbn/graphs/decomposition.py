"""Tree decompositions: the proofs of treewidth."""

from __future__ import annotations

import itertools
import math
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from twbn.errors import GraphError, Vertex
from twbn.views import Viewed

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from twbn.graphs.graph import Graph

__all__ = ["TreeDecomposition", "elimination_width", "higher_neighbours"]


@dataclass(frozen=True)
class TreeDecomposition(Viewed):
    """Bags of vertices on a tree.

    Invariant: the edges join the bags into one tree. `check` decides from the definition whether it
    decomposes a given graph: every vertex and every edge is in a bag, and the bags of each vertex
    are connected.

    Examples
    --------
    >>> from twbn.graphs.graph import Graph
    >>> path = Graph.from_edges(3, [(0, 1), (1, 2)])
    >>> proof = TreeDecomposition((frozenset({0, 1}), frozenset({1, 2})), ((0, 1),))
    >>> proof.check(path)
    >>> proof.width
    1
    """

    bags: tuple[frozenset[int], ...]
    edges: tuple[tuple[int, int], ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "bags", tuple(frozenset(bag) for bag in self.bags))
        object.__setattr__(self, "edges", tuple((int(a), int(b)) for a, b in self.edges))
        n = len(self.bags)
        for a, b in self.edges:
            if not (0 <= a < n and 0 <= b < n):
                msg = f"tree edge {(a, b)} does not fit {n} bags"
                raise GraphError(msg)
        if len(self.edges) != max(n - 1, 0) or len(self._reached_from(0)) != n:
            msg = f"{n} bags with {len(self.edges)} edges between them are not a tree"
            raise GraphError(msg)

    @classmethod
    def from_elimination_order(cls, graph: Graph, order: Sequence[int]) -> TreeDecomposition:
        """Return the decomposition that eliminating the vertices in `order` leads to.

        Notes
        -----
        The bag of v consists of v and its neighbours at the time v is eliminated; its parent is the
        bag of whichever of those neighbours is eliminated first. A bag contained in a neighbouring
        bag is merged into it. O(n · width²).
        """
        if sorted(order) != list(range(graph.n_vertices)):
            msg = f"the order must have each of 0..{graph.n_vertices - 1} once, got {list(order)}"
            raise GraphError(msg)
        position = {v: i for i, v in enumerate(order)}
        higher = higher_neighbours(graph, order)
        bags = [frozenset(higher[v] | {v}) for v in order]
        edges = [(i, min(position[u] for u in higher[v])) for i, v in enumerate(order) if higher[v]]
        # A forest becomes a tree by joining the roots; their bags share no vertex.
        roots = [i for i, v in enumerate(order) if not higher[v]]
        edges += list(itertools.pairwise(roots))
        return _merge_contained(bags, edges)

    @property
    def width(self) -> int:
        """Size of the largest bag, less one."""
        return max((len(bag) for bag in self.bags), default=0) - 1

    def largest_states(self, n_states: Sequence[int]) -> int:
        """Return the joint states of the largest bag, for these numbers of states."""
        return max((math.prod(int(n_states[v]) for v in bag) for bag in self.bags), default=1)

    def check(self, graph: Graph) -> None:
        """Raise GraphError, saying why, unless this decomposes `graph`. O(size of the bags)."""
        bags_of: list[list[int]] = [[] for _ in range(graph.n_vertices)]
        for i, bag in enumerate(self.bags):
            for v in bag:
                if not 0 <= v < graph.n_vertices:
                    detail = f", the graph has 0..{graph.n_vertices - 1}"
                    raise GraphError(f"bag {i} has vertex ", Vertex(v), detail)
                bags_of[v].append(i)
        for v, inside in enumerate(bags_of):
            if not inside:
                raise GraphError("vertex ", Vertex(v), " is in no bag")
        # The bags of a vertex form a subtree if and only if they have one edge fewer than bags.
        inner_edges = [0] * graph.n_vertices
        for a, b in self.edges:
            for v in self.bags[a] & self.bags[b]:
                inner_edges[v] += 1
        for v, inside in enumerate(bags_of):
            if inner_edges[v] != len(inside) - 1:
                detail = f" are not connected: {inside}"
                raise GraphError("the bags of vertex ", Vertex(v), detail)
        for u, v in graph.edges:
            fewer = min(bags_of[u], bags_of[v], key=len)
            if not any(u in self.bags[i] and v in self.bags[i] for i in fewer):
                raise GraphError("edge (", Vertex(u), ", ", Vertex(v), ") is in no bag")

    def elimination_order(self) -> tuple[int, ...]:
        """Return an order whose elimination has at most this width. O(size of the bags)."""
        if not self.bags:
            return ()
        parent, sequence = self.rooted_at(0)
        order: list[int] = []
        for i in reversed(sequence):  # leaves first: eliminate vertices not in the parent bag
            above = self.bags[parent[i]] if parent[i] >= 0 else frozenset()
            order += sorted(self.bags[i] - above)
        return tuple(order)

    def _adjacent(self) -> list[list[int]]:
        adjacent: list[list[int]] = [[] for _ in self.bags]
        for a, b in self.edges:
            adjacent[a].append(b)
            adjacent[b].append(a)
        return adjacent

    def _reached_from(self, root: int) -> set[int]:
        return set(self.rooted_at(root)[1]) if self.bags else set()

    def rooted_at(self, root: int) -> tuple[list[int], list[int]]:
        """Return the parent of each bag and the bags in breadth-first order."""
        adjacent = self._adjacent()
        parent = [-1] * len(self.bags)
        seen = {root}
        sequence = [root]
        queue = deque(sequence)
        while queue:
            i = queue.popleft()
            for j in adjacent[i]:
                if j not in seen:
                    seen.add(j)
                    parent[j] = i
                    sequence.append(j)
                    queue.append(j)
        return parent, sequence

    def __repr__(self) -> str:
        return f"TreeDecomposition(width {self.width}, {len(self.bags)} bags)"


def elimination_width(graph: Graph, order: Sequence[int]) -> int:
    """Return the width of eliminating the vertices of `graph` in `order`."""
    higher = higher_neighbours(graph, order)
    return max((len(h) for h in higher), default=-1)


def higher_neighbours(graph: Graph, order: Sequence[int]) -> list[set[int]]:
    """Return the later neighbours of each vertex in the filled graph.

    It suffices to hand v's later neighbours to the first of them (Rose, Tarjan and Lueker).
    """
    position = {v: i for i, v in enumerate(order)}
    higher: list[set[int]] = [
        {u for u in around if position[u] > position[v]}
        for v, around in enumerate(graph.neighbours)
    ]
    for v in order:
        if higher[v]:
            first = min(higher[v], key=position.__getitem__)
            higher[first] |= higher[v] - {first}
    return higher


def _merge_contained(
    bags: Sequence[frozenset[int]], edges: Iterable[tuple[int, int]]
) -> TreeDecomposition:
    """Contract every tree edge between two bags of which one contains the other."""
    target = list(range(len(bags)))

    def find(i: int) -> int:
        while target[i] != i:
            target[i] = target[target[i]]
            i = target[i]
        return i

    kept = []
    for a, b in edges:
        i, j = find(a), find(b)
        if bags[i] <= bags[j]:
            target[i] = j
        elif bags[j] <= bags[i]:
            target[j] = i
        else:
            kept.append((a, b))
    alive = [i for i in range(len(bags)) if find(i) == i]
    number = {i: new for new, i in enumerate(alive)}
    return TreeDecomposition(
        tuple(bags[i] for i in alive),
        tuple((number[find(a)], number[find(b)]) for a, b in kept),
    )
