"""Undirected graphs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from twbn.errors import GraphError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

__all__ = ["Graph"]


@dataclass(frozen=True)
class Graph:
    """An undirected graph on the vertices 0 .. n_vertices - 1.

    Invariant: `edges` holds each edge once, as (smaller, larger); no loops.

    Examples
    --------
    >>> Graph.from_edges(3, [(1, 0), (0, 1), (2, 2)]).edges
    frozenset({(0, 1)})
    """

    n_vertices: int
    edges: frozenset[tuple[int, int]]

    def __post_init__(self) -> None:
        if self.n_vertices < 0:
            msg = f"a graph cannot have {self.n_vertices} vertices"
            raise GraphError(msg)
        for u, v in self.edges:
            if not 0 <= u < v < self.n_vertices:
                msg = f"edge {(u, v)} does not fit a graph on 0..{self.n_vertices - 1}"
                raise GraphError(msg)

    @classmethod
    def from_edges(cls, n_vertices: int, edges: Iterable[tuple[int, int]]) -> Graph:
        """Return the graph of `edges`; loops and repetitions are dropped."""
        return cls(n_vertices, frozenset((min(u, v), max(u, v)) for u, v in edges if u != v))

    @classmethod
    def complete(cls, n_vertices: int) -> Graph:
        """Return the graph with all edges."""
        return cls(
            n_vertices,
            frozenset((u, v) for v in range(n_vertices) for u in range(v)),
        )

    @cached_property
    def neighbours(self) -> tuple[frozenset[int], ...]:
        """Neighbours of each vertex."""
        sets: list[set[int]] = [set() for _ in range(self.n_vertices)]
        for u, v in self.edges:
            sets[u].add(v)
            sets[v].add(u)
        return tuple(frozenset(s) for s in sets)

    @cached_property
    def edge_array(self) -> NDArray[np.int32]:
        """Edges as an array of shape (edges, 2), sorted."""
        return np.array(sorted(self.edges), dtype=np.int32).reshape(-1, 2)

    def has_edge(self, u: int, v: int) -> bool:
        """Say whether u and v are adjacent."""
        return (min(u, v), max(u, v)) in self.edges

    def is_clique(self, vertices: Iterable[int]) -> bool:
        """Say whether the vertices are pairwise adjacent."""
        members = sorted(set(vertices))
        return all((u, v) in self.edges for i, v in enumerate(members) for u in members[:i])

    def components(self) -> Iterator[frozenset[int]]:
        """Yield the connected components."""
        seen: set[int] = set()
        for first in range(self.n_vertices):
            if first in seen:
                continue
            reached, frontier = set[int](), {first}
            while frontier:
                reached |= frontier
                frontier = {w for v in frontier for w in self.neighbours[v]} - reached
            seen |= reached
            yield frozenset(reached)

    def __repr__(self) -> str:
        return f"Graph({self.n_vertices} vertices, {len(self.edges)} edges)"
