"""k-trees: the maximal graphs of treewidth k."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING

from twbn.errors import GraphError
from twbn.graphs.decomposition import TreeDecomposition
from twbn.graphs.graph import Graph
from twbn.views import Viewed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from twbn.graphs.dag import Dag

__all__ = ["KTree", "KTreeSteps"]

#: The root clique; then, for each attachment, the vertex, the step it is attached to (-1: the root
#: clique) and the member of that step's clique to which it is not attached. Used by the core.
KTreeSteps = tuple[list[int], list[int], list[int], list[int]]


@dataclass(frozen=True)
class KTree(Viewed):
    """A k-tree on 0 .. n_vertices - 1, described by how it is grown.

    Invariant: `root` has k members; each attachment (v, K) joins a new vertex v to a k-clique K of
    the graph grown so far; every vertex is added once. (A k-tree has at least k + 1 vertices.)

    Examples
    --------
    >>> tree = KTree(4, (0, 1), ((2, (0, 1)), (3, (1, 2))))
    >>> sorted(tree.graph.edges)
    [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3)]
    >>> tree.decomposition().width
    2
    """

    n_vertices: int
    root: tuple[int, ...]
    attachments: tuple[tuple[int, tuple[int, ...]], ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "root", tuple(sorted(self.root)))
        tidy = tuple((int(v), tuple(sorted(clique))) for v, clique in self.attachments)
        object.__setattr__(self, "attachments", tidy)
        grown = [*self.root, *(v for v, _ in tidy)]
        if sorted(grown) != list(range(self.n_vertices)):
            msg = f"root and attachments must have each of 0..{self.n_vertices - 1} once"
            raise GraphError(msg)
        if not self.root:
            msg = "a k-tree needs k of at least 1: the root clique is empty"
            raise GraphError(msg)
        if not tidy:
            msg = f"a {self.k}-tree has at least {self.k + 1} vertices, got {self.n_vertices}"
            raise GraphError(msg)
        _ = self.steps  # checks that each attachment is to an existing clique

    @classmethod
    def from_steps(cls, n_vertices: int, steps: KTreeSteps) -> KTree:
        """Return the k-tree that the core grew."""
        root, vertices, parents, dropped = steps
        attachments: list[tuple[int, tuple[int, ...]]] = []
        for v, parent, out in zip(vertices, parents, dropped, strict=True):
            if parent < 0:
                attachments.append((v, tuple(root)))
                continue
            u, clique = attachments[parent]
            attachments.append((v, tuple(w for w in (u, *clique) if w != out)))
        return cls(n_vertices, tuple(root), tuple(attachments))

    @classmethod
    def complete(cls, n_vertices: int) -> KTree:
        """Return the k-tree on k + 1 vertices: all edges."""
        rest = tuple(range(n_vertices - 1))
        return cls(n_vertices, rest, ((n_vertices - 1, rest),))

    @classmethod
    def from_graph(cls, graph: Graph, k: int) -> KTree:
        """Return a graph as a k-tree, or raise GraphError if it is not one."""
        n = graph.n_vertices
        degree = [len(around) for around in graph.neighbours]
        leaves = [v for v in range(n) if degree[v] == k]
        left = set(range(n))
        attachments: list[tuple[int, tuple[int, ...]]] = []
        while leaves and len(left) > k:  # the last k vertices are the root clique
            v = leaves.pop()
            if v not in left:
                continue
            around = graph.neighbours[v] & left
            if len(around) != k or not graph.is_clique(around):
                break
            left.discard(v)
            attachments.append((v, tuple(around)))
            for u in around:
                degree[u] -= 1
                if degree[u] == k:
                    leaves.append(u)
        if not attachments or len(left) != k or not graph.is_clique(left):
            msg = f"the graph of {n} vertices and {len(graph.edges)} edges is no {k}-tree"
            raise GraphError(msg)
        return cls(n, tuple(left), tuple(attachments[::-1]))

    @classmethod
    def containing(cls, decomposition: TreeDecomposition, n_vertices: int, k: int) -> KTree:
        """Return a k-tree that contains every bag of a decomposition of width at most k.

        Notes
        -----
        In the reverse of an elimination order a vertex meets a clique H of at most k vertices that
        are there already. All of H lies in the (k+1)-clique of its newest member, and v is
        attached to k members of that clique, H among them. O(n · k).
        """
        if decomposition.width > k:
            msg = f"a decomposition of width {decomposition.width} fits into no {k}-tree"
            raise GraphError(msg)
        if n_vertices <= k:
            msg = f"a {k}-tree has at least {k + 1} vertices, got {n_vertices}"
            raise GraphError(msg)
        order = decomposition.elimination_order()[::-1]
        met = _met_before(decomposition, order)
        start = tuple(sorted(order[: k + 1]))
        clique_of = dict.fromkeys(start, start)
        when = {v: i for i, v in enumerate(order)}
        newest = start
        attachments = [(order[k], tuple(v for v in start if v != order[k]))]
        for v in order[k + 1 :]:
            meets = met[v]
            host = clique_of[max(meets, key=when.__getitem__)] if meets else newest
            out = next(u for u in host if u not in meets)
            base = tuple(u for u in host if u != out)
            clique_of[v] = newest = tuple(sorted((*base, v)))
            attachments.append((v, base))
        return cls(n_vertices, attachments[0][1], tuple(attachments))

    @property
    def k(self) -> int:
        """The treewidth."""
        return len(self.root)

    @cached_property
    def cliques(self) -> tuple[frozenset[int], ...]:
        """The (k+1)-cliques, one per attachment."""
        return tuple(frozenset((v, *clique)) for v, clique in self.attachments)

    @cached_property
    def graph(self) -> Graph:
        """The graph itself."""
        edges = {pair for clique in self.cliques for pair in combinations(sorted(clique), 2)}
        return Graph(self.n_vertices, frozenset(edges))

    @cached_property
    def steps(self) -> KTreeSteps:
        """The k-tree in the form the core expects; parents come before their children."""
        when = dict.fromkeys(self.root, -1)
        parents: list[int] = []
        dropped: list[int] = []
        for step, (v, clique) in enumerate(self.attachments):
            if len(set(clique)) != self.k or any(u not in when for u in clique):
                msg = (
                    f"vertex {v} is attached to {list(clique)}, not to {self.k} vertices before it"
                )
                raise GraphError(msg)
            host = max(when[u] for u in clique)
            members = {*self.root} if host < 0 else self.cliques[host]
            out = members - set(clique)
            if not set(clique) <= members:
                msg = f"vertex {v} is attached to {list(clique)}, which is no clique"
                raise GraphError(msg)
            parents.append(host)
            dropped.append(next(iter(out)) if host >= 0 else -1)
            when[v] = step
        return list(self.root), [v for v, _ in self.attachments], parents, dropped

    def decomposition(self) -> TreeDecomposition:
        """Return the tree of its (k+1)-cliques."""
        _, _, parents, _ = self.steps
        # The steps attached to the root clique are joined through the first of them.
        edges = [(step, max(parent, 0)) for step, parent in enumerate(parents) if step]
        return TreeDecomposition(self.cliques, tuple(edges))

    def contains(self, dag: Dag) -> bool:
        """Say whether the moral graph of `dag` lies inside this k-tree."""
        return dag.moral_graph().edges <= self.graph.edges

    def __repr__(self) -> str:
        return f"KTree(k={self.k}, {self.n_vertices} vertices)"


def _met_before(decomposition: TreeDecomposition, order: Iterable[int]) -> dict[int, set[int]]:
    """Return, for each vertex, the earlier vertices in the order that share a bag with it."""
    when = {v: i for i, v in enumerate(order)}
    met: dict[int, set[int]] = {v: set() for v in when}
    for bag in decomposition.bags:
        members = sorted(bag, key=when.__getitem__)
        for i, v in enumerate(members):
            met[v].update(members[:i])
    return met
